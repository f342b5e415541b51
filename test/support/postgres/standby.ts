// Two servers, one of which copies the other and takes over when told to: nothing is committed on the primary before the
// standby has it on disk too.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../wait.ts';
import { queryOn } from './databases.ts';
import { type PostgresServer, startPostgres } from './server.ts';

export interface Pair extends AsyncDisposable {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Of both; the driver takes the one that may be written to. */
  url(database?: string): string;
  /** SIGKILL. */
  killPrimary(): Promise<void>;
  /** Resolves when the standby takes writes. It has no standby of its own then, and waits for none. */
  promote(): Promise<void>;
  dispose(): Promise<void>;
}

const PRIMARY = { synchronous_standby_names: 'ANY 1 (*)', wal_keep_size: '64MB' };

/**
 * Both begin as copies of the same unused data folder, which a base backup of a stopped server would be too
 * (pg_basebackup is not in the package). Resolves when commits go through.
 */
export async function startPair(options: { readonly version?: 15 | 18 } = {}): Promise<Pair> {
  const primary = await startPostgres({ ...options, durable: true, settings: PRIMARY });
  let standby: PostgresServer;
  try {
    standby = await startStandby(options, primary.port);
  } catch (error) {
    await primary.dispose();
    throw error;
  }
  await until('the standby is synchronous', async () => {
    const [row] = await primary.databases.query('SELECT sync_state FROM pg_stat_replication');
    return row?.sync_state === 'quorum';
  });
  const dispose = async (): Promise<void> => {
    await Promise.all([primary.dispose(), standby.dispose()]);
  };
  return {
    primary,
    standby,
    url: (database = 'postgres') => {
      const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
      return `postgres://postgres@${hosts}/${database}?target_session_attrs=read-write`;
    },
    killPrimary: () => primary.kill(),
    promote: async () => {
      await queryOn(standby.url(), 'SELECT pg_promote()');
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

function startStandby(options: { readonly version?: 15 | 18 }, primaryPort: number): Promise<PostgresServer> {
  return startPostgres({
    ...options,
    durable: true,
    settings: {
      primary_conninfo: `host=127.0.0.1 port=${primaryPort} user=postgres application_name=standby`,
      wal_retrieve_retry_interval: '100ms',
    },
    prepare: (dir) => writeFile(join(dir, 'standby.signal'), ''),
  });
}
