// For `node --test --test-global-setup=…`: a run whose stores are on Postgres, all on one server. The test files' processes
// are started after this, and inherit what is set here.

import { globalSetup as setUpAll } from '../global-setup.ts';
import type { PostgresServer } from './server.ts';
import { SERVER_VARIABLE, startSharedPostgres } from './shared.ts';

let server: PostgresServer | undefined;

export async function globalSetup(): Promise<void> {
  await setUpAll();
  process.env.TEST_STORE = 'postgres';
  if (process.env[SERVER_VARIABLE]) return;
  server = await startSharedPostgres();
  process.env[SERVER_VARIABLE] = server.url();
}

export async function globalTeardown(): Promise<void> {
  // With --test-force-exit the runner ends with 0 whatever this throws.
  await server?.dispose().catch((error) => {
    process.exitCode = 1;
    process.stderr.write(`${(error as Error).message}\n`);
  });
}
