// The connections for reads: how long a read waits for the server and for others, and what waits when connections break. The
// limits pass by a clock of the test, as soon as the server shows what it waits for.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import postgres from 'postgres';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';
import { Pool } from '../../../src/store/postgres/connection/pool.ts';
import { newDatabase } from '../../support/postgres/shared.ts';

const NAME = 'errand test pool';
const LOCKED = `SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE application_name = '${NAME}' AND datname = current_database() AND wait_event_type = 'Lock'`;
const PID = 'SELECT pg_backend_pid() AS pid';

/** A pool of one connection, and another connection that holds the locks that reads wait for. */
async function makePlace(t: TestContext) {
  const { url, drop } = await newDatabase();
  const holder = postgres(url, { max: 1, fetch_types: false });
  const pool = new Pool({ url, name: NAME, connections: 1 });
  // Both connect with real timers.
  await Promise.all([pool.all(PID), holder.unsafe(PID)]);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return {
    pool,
    pass: (ms: number) => t.mock.timers.tick(ms),
    hold: (lock: number) => holder.unsafe(`SELECT pg_advisory_lock(${lock})`),
    let: (lock: number) => holder.unsafe(`SELECT pg_advisory_unlock(${lock})`),
    /** Reads once the lock can be had, and says which connection it was. */
    read: (lock: number) =>
      pool.write(`SELECT pg_backend_pid() AS pid FROM (SELECT pg_advisory_xact_lock(${lock})) held`),
    isLocked: async () => {
      while ((await holder.unsafe(LOCKED))[0]?.count !== 1);
    },
    cut: () =>
      holder.unsafe(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${NAME}'`),
    async [Symbol.asyncDispose]() {
      t.mock.timers.reset();
      await pool.close();
      await holder.end({ timeout: 1 });
      await drop();
    },
  };
}

/** As long as the server executes a statement of the pool. */
async function limitMs(pool: Pool): Promise<number> {
  const row = await pool.get("SELECT setting::int AS ms FROM pg_settings WHERE name = 'statement_timeout'");
  return Number(row?.ms);
}

test('a read is waited for as long as the server executes it', async (t) => {
  await using place = await makePlace(t);
  const ms = await limitMs(place.pool);
  await place.hold(1);
  const read = place.read(1);
  await place.isLocked();
  place.pass(ms + 1000);
  await place.let(1);
  equal((await read).length, 1);
});

test('a server that never answers is given up behind its own limit', async (t) => {
  await using place = await makePlace(t);
  const ms = await limitMs(place.pool);
  await place.hold(1);
  const read = place.read(1);
  await place.isLocked();
  place.pass(2 * ms);
  await rejects(read, StoreUnavailable);
  equal((await place.pool.all(PID)).length, 1);
});

test('reads that wait for a connection outlive the one that breaks', async (t) => {
  await using place = await makePlace(t);
  await place.hold(1);
  const first = place.read(1);
  await place.isLocked();
  const others = [place.pool.all(PID), place.pool.write(PID)];
  await Promise.all([rejects(first, StoreUnavailable), place.cut()]);
  const [[a], [b]] = (await Promise.all(others)) as [{ pid: number }[], { pid: number }[]];
  equal(a?.pid, b?.pid);
});

test('a read that waits too long for a connection leaves the others theirs', async (t) => {
  await using place = await makePlace(t);
  const ms = await limitMs(place.pool);
  const [before] = await place.pool.all(PID);
  await place.hold(1);
  await place.hold(2);
  const first = place.read(1);
  await place.isLocked();
  const second = place.read(2);
  const third = place.pool.all(PID);
  place.pass(ms - 1000);
  await place.let(1);
  await first;
  await place.isLocked();
  place.pass(ms - 1000);
  await rejects(third, /busy/);
  await place.let(2);
  deepEqual([...(await second), ...(await place.pool.all(PID))], [before, before]);
});

test('reads that wait when the store closes are refused', async (t) => {
  await using place = await makePlace(t);
  await place.hold(1);
  const first = place.read(1);
  await place.isLocked();
  // Expected at once: it may be refused before the first one is answered.
  const second = rejects(place.pool.all(PID), /closed/);
  const closed = place.pool.close();
  await place.let(1);
  equal((await first).length, 1);
  await Promise.all([second, closed]);
});

test('tables that a newer process changes are read and written on', async () => {
  const { url, drop } = await newDatabase();
  const newer = postgres(url, { max: 1, fetch_types: false, onnotice: () => undefined });
  const pool = new Pool({ url, name: NAME, connections: 3 });
  try {
    for (const table of ['one', 'two']) await newer.unsafe(`CREATE TABLE ${table} (n int)`);
    const readAll = () => Promise.all([1, 2, 3].map(() => pool.all('SELECT * FROM one')));
    const write = () => pool.write('INSERT INTO two VALUES ($1) RETURNING *', 1);
    // Each connection has prepared the statements then.
    await Promise.all([readAll(), write(), write(), write()]);
    await newer.unsafe('ALTER TABLE one ADD COLUMN more int; ALTER TABLE two ADD COLUMN more int');
    deepEqual(await readAll(), [[], [], []]);
    await newer.unsafe('ALTER TABLE two ADD COLUMN still int');
    deepEqual(await Promise.all([write(), write(), write()]), Array(3).fill([{ n: 1, more: null, still: null }]));
    equal((await pool.get('SELECT count(*)::int AS n FROM two'))?.n, 6, 'none was written twice');
  } finally {
    await pool.close();
    await newer.end({ timeout: 1 });
    await drop();
  }
});
