// errand store move: everything that an SQLite store has is in the database afterwards.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { HOUR_MS } from '../../../../src/domain/limits.ts';
import { endOf } from '../../../../src/domain/run/run-end.ts';
import type { Store } from '../../../../src/store/contract/store.ts';
import { checkPostgres } from '../../../../src/store/postgres/maintenance/check.ts';
import { IMPORTED } from '../../../../src/store/postgres/move/import-tables.ts';
import { backupSqlite } from '../../../../src/store/sqlite/maintenance/backup.ts';
import { all, at, defined, emit, none, succeeded } from '../../../contract/fixtures.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { openTestStore } from '../../../support/postgres/store.ts';
import { call } from '../command.ts';
import { LONG_ID, multiply, ODD, openFull } from '../full-store.ts';
import { assertMoved, move, place } from '../place.ts';

test('everything is there after a move', async (t) => {
  const here = await place(t, 2500);
  const { status, stderr, json } = await move(here);
  equal(status, 0, stderr);
  const { from, to, resumed, tables } = json();
  const { host, pathname } = new URL(here.url);
  deepEqual([from, to, resumed], [here.path, host + pathname, false]);
  ok(tables.emissions.rows > 2500);
  match(tables.emissions.sha256, /^[0-9a-f]{64}$/);
  // Short work says nothing of how far it is (cli/progress.test.ts); a busy machine makes it long.
  match(stderr, /^(\d+ % (copied|compared), .+\n)*$/);
  await assertMoved(here);
});

test('a move is in the audit log of the first owner', async (t) => {
  const here = await place(t);
  equal((await move(here)).status, 0);
  equal((await move(here)).status, 1, 'once is enough');
  const store = await openTestStore({ url: here.url, clock: here.clock });
  const [first] = await store.listOwners();
  const { items } = await store.listAudit({ ownerId: String(first?.id), operation: 'moveStore' }, { limit: 9 });
  deepEqual(
    items.map(({ keyId, keyLabel, path, status }) => [keyId, keyLabel, path, status]),
    [[null, `${userInfo().username}, from the command line`, 'errand store move', 200]],
  );
  match(items[0]?.id ?? '', /^au_/);
  await store.close();
});

test('what was under way and what waits goes on', async (t) => {
  const here = await place(t);
  const copy = join(here.dataDir, 'copy.db');
  await backupSqlite(here.path, copy);
  equal((await move(here)).status, 0);
  const [old, moved] = [await openFull(copy, here.clock), await openTestStore({ url: here.url, clock: here.clock })];
  deepEqual(await takeAll(moved), await takeAll(old));
  deepEqual((await checkPostgres(here.url)).findings, []);
  await Promise.all([old.close(), moved.close()]);
});

test('a run that waits alone for its workflow goes on', async (t) => {
  const here = await place(t);
  const db = new DatabaseSync(here.path);
  const { changes } = db
    .prepare(`UPDATE runs SET runnable_id = (SELECT id FROM runnables AS r WHERE r.owner_id = runs.owner_id AND id LIKE 'p_%'
        AND NOT EXISTS (SELECT 1 FROM runs AS o WHERE o.runnable_id = r.id AND o.state IN ('queued', 'running', 'waiting')))
      WHERE run = (SELECT run FROM runs WHERE state = 'waiting' AND wait_kind = 'delay' LIMIT 1)`)
    .run();
  db.close();
  equal(changes, 1);
  equal((await move(here)).status, 0);
  const store = await openTestStore({ url: here.url, clock: here.clock });
  here.clock.advance(2 * HOUR_MS);
  ok((await store.endWaits(100)).queued > 1);
  deepEqual((await checkPostgres(here.url)).findings, [], 'queues that claims look at');
  await store.close();
});

/** Takes over what was under way, and then all that is due. */
async function takeAll(store: Store): Promise<object> {
  const rescued = await store.rescue(none());
  const { runs, nextDueAtMs: nextStartMs } = await store.claimRuns(1000, all());
  const { deliveries, nextDueAtMs } = await store.claimDeliveries(1000, all());
  return {
    rescued: [rescued.runs, rescued.deliveries],
    runs: runs
      .map(({ run, attempt, alone, checkpoint, resumed, runnable }) => {
        return [run, attempt, alone, checkpoint, resumed, runnable.deploymentId];
      })
      .sort(),
    deliveries: deliveries.map(({ delivery, attempt, kind }) => [delivery, attempt, kind]).sort(),
    nextStartMs,
    nextDueAtMs,
  };
}

test('a moved store remembers what it has seen', async (t) => {
  const { full, clock, ...here } = await place(t);
  equal((await move(here)).status, 0);
  const store = await openTestStore({ url: here.url, clock });
  const { owner, make } = at(full.stages, 0);
  const { id: triggerId } = defined(await store.triggerByKey(at(full.triggerKeys, 0)));
  const again = await store.append(make.emission(triggerId), none(), {
    idempotency: { triggerId, key: ODD, requestHash: 'hash' },
  });
  equal(again.repeated?.answer?.status, 201);
  // Also an item whose id is so long that the database remembers its hash.
  const sourceId = at(full.sourceIds, 0);
  const asked = make.emission(owner.id, { name: '$run', onlyListenerId: sourceId });
  const { claims, entry } = await store.append(asked, all());
  const items = ['new', LONG_ID, ODD].map((itemId) => emit('', {}, { itemId }));
  await store.finishRun(endOf(at(claims.runs, 0), succeeded({ outgoing: items }), clock.nowMs()), none());
  const channel = { ownerId: owner.id, emitterId: sourceId, name: '' };
  const { items: listed } = await store.listEmissions(channel, { limit: 3 }, false);
  deepEqual(
    listed.map(({ itemId }) => itemId),
    ['new', LONG_ID, 'a'],
  );
  // Numbers go on behind those that were given there.
  const last = await queryOn(here.url, `SELECT 1 FROM emissions WHERE entry > ${entry} AND item_id IS NULL`);
  deepEqual([...last], []);
  await store.close();
});

test('no column is left behind', async (t) => {
  const here = await place(t);
  equal((await move(here)).status, 0);
  const db = new DatabaseSync(here.path, { readOnly: true });
  const there = db
    .prepare(
      `SELECT m.name AS t, c.name AS c FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
        WHERE m.type = 'table' AND m.name <> 'meta' ORDER BY t, c`,
    )
    .all() as { t: string; c: string }[];
  db.close();
  const columns = await queryOn(here.url, 'SELECT table_name AS t, column_name AS c FROM information_schema.columns');
  const known = new Set(columns.map(({ t: table, c }) => `${table}.${c}`));
  const left = there.filter(({ t: table, c }) => {
    const targets = IMPORTED.filter(({ from }) => from === table || from.includes(` FROM ${table} AS `));
    return !targets.some((target) => known.has(`${target.table}.${c}`));
  });
  // Which opening of the file held it; bytes kept free in a page; bits that are columns of their own; and what stands in a line.
  deepEqual(
    left.map(({ t: table, c }) => `${table}.${c}`),
    [
      'deliveries.boot',
      'emissions.flags',
      'later_emissions.flags',
      'runs.boot',
      'runs.room',
      'source_changes.boot',
      'throttles.runnable_id',
      'webhook_health.webhook_id',
    ],
  );
});

test('large bodies do not fill the memory', async (t) => {
  const here = await place(t);
  multiply(here.path, 150, 1024 * 1024);
  const env = { ERRAND_DATA_DIR: here.dataDir, ERRAND_DATABASE_URL: here.url };
  const { status, stderr } = await call(['store', 'move'], { ...env, NODE_OPTIONS: '--max-old-space-size=96' });
  equal(status, 0, stderr);
  const [row] = await queryOn(here.url, 'SELECT count(*)::int AS n FROM emissions WHERE length(body) > 1000000');
  equal(row?.n, 154);
});
