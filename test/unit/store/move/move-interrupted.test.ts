// errand store move, killed on its way: nothing starts on the half, and the next call makes it whole.

import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Pool } from '../../../../src/store/postgres/connection/pool.ts';
import { checkPostgres } from '../../../../src/store/postgres/maintenance/check.ts';
import { refuseUnfinishedMove } from '../../../../src/store/postgres/move/import-progress.ts';
import { refuseMoved } from '../../../../src/store/sqlite/maintenance/moved.ts';
import { at, defined, none } from '../../../contract/fixtures.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { openTestStore } from '../../../support/postgres/store.ts';
import { spawnErrand } from '../../../support/process.ts';
import { until } from '../../../support/wait.ts';
import { call, startCommand } from '../command.ts';
import { openFull } from '../full-store.ts';
import { assertMoved, emptyDatabase, move, type Place, place } from '../place.ts';

/** A row that is written into the database. */
interface Spot {
  readonly table: string;
  readonly when: string;
}

const IN_ATTEMPTS: Spot = { table: 'attempts', when: 'NEW.n = 2' };
/** Everything was copied and compared by then. */
const AT_THE_END: Spot = { table: 'listener_queues', when: 'NEW.is_run AND NEW.taken > 1' };

function inEmissions(path: string): Spot {
  const db = new DatabaseSync(path);
  const row = db.prepare('SELECT entry FROM emissions ORDER BY entry LIMIT 1 OFFSET 3500').get();
  db.close();
  return { table: 'emissions', when: `NEW.entry = ${(defined(row) as { entry: number }).entry}` };
}

/** Kills a move while it writes that row; the database goes on writing what it was sent. */
async function killAt({ dataDir, url }: Place, { table, when }: Spot): Promise<void> {
  // The table must be there for a trigger to be put on it.
  await (await openTestStore({ url, clock: null })).close();
  await queryOn(
    url,
    `TRUNCATE nodes;
      CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NEW; END $$;
      CREATE TRIGGER stall BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION stall()`,
  );
  const { child, called } = startCommand(['store', 'move', '--to', url], { ERRAND_DATA_DIR: dataDir });
  await until('it is at that row', () => isStalled(url));
  child.kill('SIGKILL');
  await called;
}

const SLEEPERS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
const isStalled = async (url: string): Promise<boolean> => (await queryOn(url, SLEEPERS)).length > 0;

test('a move that was killed goes on', async (t) => {
  const here = await place(t, 5000);
  await killAt(here, inEmissions(here.path));
  // At once: what the killed one had sent is still under way.
  const { status, stderr, json } = await move(here);
  equal(status, 0, stderr);
  equal(json().resumed, true);
  match(stderr, /^goes on where it was interrupted$/m);
  await assertMoved(here);
});

test('nobody starts on half of a store', async (t) => {
  const here = await place(t);
  await killAt(here, IN_ATTEMPTS);
  await until('the killed one is over', async () => !(await isStalled(here.url)));
  const half = await checkPostgres(here.url);
  ok(half.findings.some(({ check }) => check === 'move_under_way'));
  const message = /the move of a store into this database is not finished: call errand store move again/;
  const pool = new Pool({ url: here.url, name: 'test', connections: 1 });
  await rejects(refuseUnfinishedMove(pool), message);
  equal((await move(here)).status, 0);
  await refuseUnfinishedMove(pool);
  await pool.close();
  await assertMoved(here);
});

test('a server does not start on half of a store', async (t) => {
  const here = await place(t);
  await killAt(here, IN_ATTEMPTS);
  const settings = { ERRAND_DATA_DIR: join(here.dataDir, 'new'), ERRAND_DATABASE_URL: here.url };
  const started = spawnErrand(settings).then((errand) => errand[Symbol.asyncDispose]());
  await rejects(started, /errand exited with 1: errand: the move of a store into this database/);
  equal((await move(here)).status, 0);
  const moved = await spawnErrand(settings);
  await moved[Symbol.asyncDispose]();
});

test('at the very end servers start at neither place', async (t) => {
  const here = await place(t);
  await killAt(here, AT_THE_END);
  await queryOn(here.url, SLEEPERS.replace('1', 'pg_terminate_backend(pid)'));
  ok((await checkPostgres(here.url)).findings.some(({ check }) => check === 'move_under_way'));
  throws(() => refuseMoved(here.path), /was moved to/);
  const { status, stderr, json } = await move(here);
  equal(status, 0, stderr);
  equal(json().resumed, true);
  await assertMoved(here);
});

test('a store that was used meanwhile is moved anew', async (t) => {
  const here = await place(t);
  await killAt(here, IN_ATTEMPTS);
  const store = await openFull(here.path, here.clock);
  await store.updateOwner({ ...at(here.full.stages, 0).owner, name: 'Grace' });
  await store.rescue(none());
  await store.close();
  const { status, stderr, json } = await move(here);
  equal(status, 0, stderr);
  equal(json().resumed, false);
  await assertMoved(here);
});

test('what arrived otherwise than it was sent is not taken for moved', async (t) => {
  const here = await place(t);
  await killAt(here, IN_ATTEMPTS);
  await until('the killed one is over', async () => !(await isStalled(here.url)));
  await queryOn(here.url, "UPDATE emissions SET body = '{}' WHERE entry = (SELECT max(entry) FROM emissions)");
  const differs = await move(here);
  deepEqual([differs.status, differs.stdout], [1, '']);
  match(differs.stderr, /emissions in 127\S+ differs from what was copied/);
  const check = await call(['store', 'check', '--json'], { ERRAND_DATABASE_URL: here.url });
  equal(check.status, 1);
  const again = await move(here);
  equal(again.status, 0, again.stderr);
  equal(again.json().resumed, false);
  await assertMoved(here);
});

test('half of another store is in the way', async (t) => {
  const [here, other] = [await place(t), await place(t)];
  await killAt(here, IN_ATTEMPTS);
  const { status, stderr } = await move({ ...other, url: here.url });
  equal(status, 1);
  match(stderr, /the move of another store into it was not finished: make a new database/);
  // The store itself may go elsewhere, and the half stays one.
  const url = await emptyDatabase(t);
  equal((await move({ ...here, url })).status, 0);
  await assertMoved({ ...here, url });
});
