// How the store contract runs on a Postgres server: an empty database for every test, and every opening a new node.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Clock } from '../../../src/ports.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import type { Harness, Opened, Writer } from '../../contract/fixtures.ts';
import { type Databases, queryOn } from './databases.ts';
import { newDatabaseOn } from './fresh.ts';
import { openTestStore } from './store.ts';
import { UsedAgain } from './used-again.ts';

export function postgresHarness(server: () => Promise<Databases>, effort: number): Harness {
  const databases = new UsedAgain(server);
  after(() => databases.dispose());

  async function open({ clock }: { clock: Clock }): Promise<Opened> {
    const { url, giveBack } = await databases.lend();
    let store = await openTestStore({ url, clock });
    return {
      store,
      async reopen() {
        await store.close();
        store = await openTestStore({ url, clock });
        return store;
      },
      raw: () => rowsOf(url),
      async execute(sql) {
        await queryOn(url, sql);
      },
      async [Symbol.asyncDispose]() {
        await store.close();
        await giveBack();
      },
    };
  }

  async function startWriter(): Promise<Writer> {
    const { url, drop } = await newDatabaseOn(await server());
    // Without the test runner's own variables: the child is no test file.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = fork(join(import.meta.dirname, 'writer.ts'), [url], {
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const gone = once(child, 'close');
    let store: Store | undefined;
    return {
      async messages(heard) {
        child.on('message', heard);
        await gone;
      },
      kill: () => void child.kill('SIGKILL'),
      async open({ clock }) {
        await forgetNodes(url, clock);
        store = await openTestStore({ url, clock });
        return store;
      },
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL');
        await gone;
        await store?.close();
        await drop();
      },
    };
  }

  return { open, startWriter, effort };
}

/**
 * Says that the killed writer is gone. The others would find out when its lease is over by the store's clock, and in the
 * contract that one stands still. First come its last transactions, which the server may still be at.
 */
async function forgetNodes(url: string, clock: Clock): Promise<void> {
  await queryOn(
    url,
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid();
    UPDATE nodes SET gone_at_ms = ${clock.nowMs()} WHERE gone_at_ms IS NULL`,
  );
}

/** Every row of every table, as text. */
async function rowsOf(url: string): Promise<string> {
  const tables = await queryOn(url, 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()');
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await queryOn(url, `SELECT t::text AS row FROM "${name}" AS t`);
    texts.push(...rows.map(({ row }) => String(row)));
  }
  return texts.join('\n');
}
