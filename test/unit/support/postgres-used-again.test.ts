// What a test leaves in a database and its sessions, which the next one uses: nothing.

import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabase, sharedPostgres } from '../../support/postgres/shared.ts';
import { UsedAgain } from '../../support/postgres/used-again.ts';

const databases = new UsedAgain(sharedPostgres);
after(() => databases.dispose());

const NODE = `INSERT INTO nodes (slot, name, version, started_at_ms, beat_at_ms) VALUES (1, 'n', '1', 1, 1)`;

async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'first' });
  await client.connect();
  return client;
}

const value = async (client: pg.Client, sql: string): Promise<unknown> =>
  Object.values((await client.query(sql)).rows[0] ?? {})[0];

/** Of all tables: their rows. */
async function contents(url: string): Promise<Record<string, string>> {
  const tables = await queryOn(url, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    const rows = await queryOn(url, `SELECT t::text AS row FROM public."${name}" AS t ORDER BY 1`);
    if (rows.length > 0) found[name] = rows.map(({ row }) => row).join('\n');
  }
  return found;
}

test('a session is given out again without its settings, locks, statements and open transaction', async () => {
  const lent = await databases.lend();
  const one = await session(lent.url);
  const pid = await value(one, 'SELECT pg_backend_pid()');
  await one.query('LISTEN news');
  await one.query("SET work_mem = '77MB'");
  await one.query({ name: 'kept', text: 'SELECT 1' });
  await one.query('SELECT pg_advisory_lock(7)');
  await one.query('CREATE TEMP TABLE left_behind (n int)');
  await one.query('BEGIN');
  await one.query("UPDATE meta SET value = 'changed'");
  one.on('error', () => undefined);
  one.connection.stream.destroy();
  await lent.giveBack();

  const again = await databases.lend();
  equal(again.url, lent.url);
  const two = await session(again.url);
  equal(await value(two, 'SELECT pg_backend_pid()'), pid);
  notEqual(await value(two, "SELECT current_setting('work_mem')"), '77MB');
  for (const what of [
    'pg_listening_channels()',
    'pg_prepared_statements',
    "pg_locks WHERE locktype = 'advisory'",
    "pg_class WHERE relname = 'left_behind'",
    "meta WHERE value = 'changed'",
  ]) {
    equal(await value(two, `SELECT count(*)::int FROM ${what}`), 0, what);
  }
  await two.end();
  await again.giveBack();
});

test('a database is given out again with what a new one has', async () => {
  const fresh = await newDatabase();
  const lent = await databases.lend();
  const expected = await contents(fresh.url);
  deepEqual(await contents(lent.url), expected);
  for (let n = 1; n <= 3; n++) {
    await queryOn(
      lent.url,
      `${NODE}; DELETE FROM meta; INSERT INTO meta (name, value) SELECT 'm' || i, repeat('x', 900) FROM generate_series(1, ${n * 100}) AS i`,
    );
    const [node] = await queryOn(lent.url, 'SELECT node FROM nodes');
    await lent.giveBack();
    equal((await databases.lend()).url, lent.url);
    deepEqual([node?.node, await contents(lent.url)], ['1', expected], `time ${n}`);
  }
  await lent.giveBack();
  await fresh.drop();
});

test('a session that ends takes its client with it, and is forgotten', async () => {
  const lent = await databases.lend();
  const sleeping = queryOn(lent.url, 'SELECT pg_sleep(60)').catch((error) => error.code);
  const ended = "FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND datname = current_database()";
  while ((await queryOn(lent.url, `SELECT pg_terminate_backend(pid, 5000) ${ended}`)).length === 0);
  match(String(await sleeping), /57P01|CONNECTION_CLOSED|ECONNRESET/);
  equal((await queryOn(lent.url, 'SELECT 1 AS one'))[0]?.one, 1);
  await lent.giveBack();
});
