// errand store move: everything that an SQLite store has is in the database afterwards, whatever happens on the way.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { checkPostgres } from '../../../src/store/postgres/check.ts';
import { IMPORTED } from '../../../src/store/postgres/import-tables.ts';
import { backupSqlite } from '../../../src/store/sqlite/backup.ts';
import { checkSqlite } from '../../../src/store/sqlite/check.ts';
import type { Store } from '../../../src/store/store.ts';
import { all, at, emit, none, succeeded, TestClock } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { createFolder } from '../../support/folder.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabaseOn } from '../../support/postgres/fresh.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';
import { until } from '../../support/wait.ts';
import { call, startCommand } from './command.ts';
import { type Full, fillStore, LONG_ID, multiply, ODD, openFull } from './full-store.ts';
import { portraitOf } from './portrait.ts';

interface Place {
  readonly path: string;
  readonly dataDir: string;
  readonly url: string;
  readonly clock: TestClock;
  readonly full: Full;
}

/** A store with everything in it, and an empty database. */
async function place(t: TestContext, count = 0): Promise<Place> {
  const folder = await createFolder();
  t.after(() => folder[Symbol.asyncDispose]());
  const { url, drop } = await newDatabaseOn(await sharedPostgres(), { isBlank: true });
  t.after(drop);
  const path = join(folder.path, 'errand.db');
  const clock = new TestClock();
  const full = await fillStore(path, clock);
  if (count > 0) multiply(path, count);
  return { path, dataDir: folder.path, url, clock, full };
}

const move = ({ dataDir, url }: Pick<Place, 'dataDir' | 'url'>) =>
  call(['store', 'move', '--to', url], { ERRAND_DATA_DIR: dataDir });

/** Both say the same, and both are sound. */
async function assertMoved({ path, url, clock, full }: Place): Promise<void> {
  const [there, here] = [await checkSqlite(path), await checkPostgres(url)];
  deepEqual([there.findings, here.findings], [[], []]);
  deepEqual(here.figures, there.figures);
  const [old, moved] = [await openFull(path, clock), await openTestStore({ url, clock })];
  deepEqual(await portraitOf(moved, full), await portraitOf(old, full));
  await Promise.all([old.close(), moved.close()]);
}

test('everything is there after a move', async (t) => {
  const here = await place(t, 2500);
  const { status, stderr, json } = await move(here);
  equal(status, 0, stderr);
  const { from, to, resumed, tables } = json();
  deepEqual([from, to, resumed], [here.path, new URL(here.url).host + new URL(here.url).pathname, false]);
  ok(tables.emissions.rows > 2500);
  match(tables.emissions.sha256, /^[0-9a-f]{64}$/);
  match(stderr, /^emissions: copied 25\d\d rows, [1-9]\d+ rows\/s$/m);
  await assertMoved(here);
});

test('work goes on after a move', async (t) => {
  const here = await place(t);
  const copy = join(here.dataDir, 'copy.db');
  await backupSqlite(here.path, copy);
  equal((await move(here)).status, 0);
  const [old, moved] = [await openFull(copy, here.clock), await openTestStore({ url: here.url, clock: here.clock })];
  deepEqual(await takeAll(moved), await takeAll(old));
  deepEqual((await checkPostgres(here.url)).findings, []);
  const stage = at(here.full.stages, 0);
  const sourceId = at(here.full.sourceIds, 0);
  const trigger = await moved.triggerByKey(at(here.full.triggerKeys, 0));
  const event = stage.make.emission(String(trigger?.id));
  const { repeated } = await moved.append(event, none(), { idempotency: { triggerId: String(trigger?.id), key: ODD } });
  equal(repeated?.answer?.status, 201);
  // What the source has seen it knows, also under an id that is remembered by its hash.
  const run = await moved.append(
    stage.make.emission(stage.owner.id, { name: '$run', onlyListenerId: sourceId }),
    all(),
  );
  const items = ['new', LONG_ID, ODD].map((itemId) => emit('', {}, { itemId }));
  const moving = await Stage.on(moved, here.clock).catch(() => stage);
  equal(moving, stage);
  const { endOf } = await import('../../../src/domain/end.ts');
  await moved.finishRun(endOf(at(run.claims.runs, 0), succeeded({ outgoing: items }), here.clock.nowMs()), none());
  const page = await moved.listEmissions(
    { ownerId: stage.owner.id, emitterId: sourceId, name: '' },
    { limit: 10 },
    false,
  );
  deepEqual(
    page.items.slice(0, 2).map(({ itemId }) => itemId),
    ['new', LONG_ID],
  );
  await Promise.all([old.close(), moved.close()]);
});

/** Takes over what was under way, and then all that waits. */
async function takeAll(store: Store): Promise<object> {
  const rescued = await store.rescue(none());
  const { runs } = await store.claimRuns(1000, all());
  const { deliveries, nextDueAtMs } = await store.claimDeliveries(1000, all());
  return {
    rescued: [rescued.runs, rescued.deliveries],
    runs: runs.map(({ run, attempt, alone }) => [run, attempt, alone]).sort(),
    deliveries: deliveries.map(({ delivery, attempt, kind }) => [delivery, attempt, kind]).sort(),
    nextDueAtMs,
  };
}

test('no column is left behind', async (t) => {
  const { path } = await place(t);
  const db = new DatabaseSync(path, { readOnly: true });
  const columns = db.prepare(
    `SELECT m.name || '.' || c.name AS name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
      WHERE m.type = 'table' ORDER BY 1`,
  );
  const [first] = await queryOn((await place(t)).url, 'SELECT 1 AS one');
  equal(first?.one, 1);
  const known = new Set(
    columns
      .all()
      .map((row) => String((row as { name: string }).name))
      .filter((name) => !name.startsWith('meta.')),
  );
  db.close();
  const moved = await place(t);
  equal((await move(moved)).status, 0);
  const here = await queryOn(
    moved.url,
    "SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = 'public'",
  );
  const there = new Set(here.map(({ name }) => String(name)));
  const isCarried = (name: string): boolean => {
    const [table, column] = name.split('.');
    return IMPORTED.some((imported) => imported.from === table && there.has(`${imported.table}.${column}`));
  };
  deepEqual(
    [...known].filter((name) => !isCarried(name)),
    ['deliveries.boot', 'emissions.flags', 'runs.boot'],
  );
});

/** From this row of the table on, nothing is written for a while. */
function stallAt(table: string, key: string): string {
  return `CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(2); RETURN NEW; END $$;
    CREATE TRIGGER stall BEFORE INSERT ON ${table} FOR EACH ROW WHEN (NEW.${key}) EXECUTE FUNCTION stall()`;
}

const isStalled = async (url: string): Promise<boolean> =>
  (await queryOn(url, "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"))
    .length > 0;

/** Kills a move while it is at that row. */
async function killAt(here: Place, table: string, key: string): Promise<void> {
  // The tables must be there for a trigger to be put on one.
  await (await openTestStore({ url: here.url, clock: null })).close();
  await queryOn(here.url, `TRUNCATE nodes; ${stallAt(table, key)}`);
  const { child, called } = startCommand(['store', 'move', '--to', here.url], { ERRAND_DATA_DIR: here.dataDir });
  await until('it stalls', () => isStalled(here.url));
  child.kill('SIGKILL');
  await called;
}

test('a move that was killed goes on', async (t) => {
  const here = await place(t, 5000);
  const db = new DatabaseSync(here.path);
  const { entry } = db.prepare('SELECT entry FROM emissions ORDER BY entry LIMIT 1 OFFSET 3500').get() as {
    entry: number;
  };
  db.close();
  await killAt(here, 'emissions', `entry = ${entry}`);
  // At once: what the killed one had sent may still be under way.
  const { status, stderr, json } = await move(here);
  equal(status, 0, stderr);
  equal(json().resumed, true);
  match(stderr, /^goes on where it was interrupted$/m);
  await assertMoved(here);
});

test('nobody starts on half of a store', async (t) => {
  const here = await place(t, 10);
  await killAt(here, 'attempts', 'n = 1');
  await until('the killed one is over', async () => !(await isStalled(here.url)));
  const half = await checkPostgres(here.url);
  ok(half.findings.some(({ check }) => check === 'move_under_way'));
  const message = /the move of a store into this database has not come to its end: call errand store move again/;
  const server = await call(['start'], { ERRAND_DATA_DIR: join(here.dataDir, 'new'), ERRAND_DATABASE_URL: here.url });
  equal(server.status, 1);
  match(server.stderr, message);
  equal((await move(here)).status, 0);
  await assertMoved(here);
});

test('a store that was used meanwhile is moved anew', async (t) => {
  const here = await place(t, 10);
  await killAt(here, 'attempts', 'n = 1');
  const store = await openFull(here.path, here.clock);
  const stage = at(here.full.stages, 0);
  await store.updateOwner({ ...stage.owner, name: 'Grace' });
  await store.rescue(none());
  await store.close();
  const { status, stderr, json } = await move(here);
  equal(status, 0, stderr);
  equal(json().resumed, false);
  await assertMoved(here);
});

test('what is not the same is not taken for moved', async (t) => {
  const here = await place(t, 10);
  await killAt(here, 'attempts', 'n = 1');
  await until('the killed one is over', async () => !(await isStalled(here.url)));
  await queryOn(here.url, "UPDATE emissions SET body = '{}' WHERE entry = (SELECT max(entry) FROM emissions)");
  const differs = await move(here);
  deepEqual([differs.status, differs.stdout], [1, '']);
  match(differs.stderr, /emissions in 127\S+ is not what was copied there/);
  const again = await move(here);
  equal(again.json().resumed, false);
  await assertMoved(here);
});

test('large bodies do not fill the memory', async (t) => {
  const here = await place(t);
  multiply(here.path, 150, 1024 * 1024);
  const env = { ERRAND_DATA_DIR: here.dataDir, NODE_OPTIONS: '--max-old-space-size=96' };
  const { status, stderr } = await call(['store', 'move', '--to', here.url], env);
  equal(status, 0, stderr);
  equal((await queryOn(here.url, 'SELECT count(*)::int AS n FROM emissions WHERE length(body) > 1000000'))[0]?.n, 154);
});
