// Room that deletions leave in the SQLite file, and that the janitor gives back to the disk.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { PREFIX } from '../../../src/domain/ids.ts';
import { DAY_MS } from '../../../src/domain/limits.ts';
import { Janitor } from '../../../src/engine/schedule/janitor.ts';
import { WakeUps } from '../../../src/engine/wake-ups.ts';
import type { DataPlace } from '../../../src/store/contract/data.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { backupSqlite } from '../../../src/store/sqlite/maintenance/backup.ts';
import { checkSqlite } from '../../../src/store/sqlite/maintenance/check.ts';
import { readWal } from '../../../src/store/sqlite/salvage/wal.ts';
import { strongRandom, TestClock, timesInTurn } from '../../contract/fixtures.ts';
import { Stage } from '../../contract/stage.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { until } from '../../support/wait.ts';
import { multiply, openFull } from './full-store.ts';

const PAGE_BYTES = 4096;
const EVENTS = 5000;
const EVENT_BYTES = 3000;
/** As many as free pages that are kept. */
const KEPT_BYTES = 1024 * PAGE_BYTES;
const VALUE = JSON.stringify('x'.repeat(500_000));
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

interface Filled {
  readonly path: string;
  readonly clock: TestClock;
  readonly store: Store;
  /** Two records, which lie behind the events in the file. */
  readonly place: DataPlace;
}

/** A store of many events, all of them old enough for retention. */
async function fill(folder: string): Promise<Filled> {
  const path = join(folder, 'errand.db');
  const clock = new TestClock();
  const before = await openFull(path, clock);
  const stage = await Stage.on(before, clock);
  await stage.end(await stage.started(await stage.workflow()));
  await before.close();
  multiply(path, EVENTS, EVENT_BYTES);
  clock.advance(40 * DAY_MS);
  const store = await openFull(path, clock);
  const place = { ownerId: stage.owner.id, storeId: stage.ids.next(PREFIX.dataStore) };
  const times = { createdAtMs: clock.nowMs(), updatedAtMs: clock.nowMs() };
  await store.createDataStore({ id: place.storeId, ownerId: place.ownerId, name: 'kept', size: 0, ...times });
  for (const key of ['a', 'b']) await store.setRecord(place, { key, value: VALUE, ttlMs: null });
  return { path, clock, store, place };
}

let written = 0;

/** Some 120 pages of WAL: SQLite writes no page that stays as it is. */
async function writeMore({ store, place }: Filled): Promise<void> {
  const value = JSON.stringify(`${written++ % 10}`.repeat(500_000));
  await store.setRecord(place, { key: 'more', value, ttlMs: null });
}

async function prune({ store, clock }: Filled): Promise<void> {
  for (let from: number | null = 0; from !== null; ) {
    const step: Awaited<ReturnType<Store['prune']>> = await store.prune(clock.nowMs() - DAY_MS, from);
    from = step.next;
  }
}

/** Copies all that is in the WAL, beside the store's own checkpoints. */
async function copyWal(path: string): Promise<void> {
  const db = new DatabaseSync(path);
  await until('the WAL is copied', () => {
    const { log, checkpointed } = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() ?? {};
    return log === checkpointed;
  });
  db.close();
}

function pragma(path: string, name: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  const row = db.prepare(`PRAGMA ${name}`).get();
  db.close();
  return Number(row?.[name]);
}

async function assertKept(path: string, { clock, place }: Filled): Promise<void> {
  deepEqual((await checkSqlite(path)).findings, []);
  const store = await openFull(path, clock);
  for (const key of ['a', 'b']) equal((await store.getRecord(place, key))?.record?.value, VALUE);
  await store.close();
}

const NO_OWNERS = {
  ids: { next: () => '', secret: () => '' },
  cancelRun: async () => 'cancelled' as const,
  deleteSource: async () => undefined,
  removeFiles: async () => undefined,
};

test('the janitor gives back what retention has deleted', async (t) => {
  await using folder = await createFolder();
  const filled = await fill(folder.path);
  const { path, clock, store } = filled;
  const janitor = new Janitor({
    store,
    clock,
    wake: new WakeUps(),
    ...NO_OWNERS,
    random: strongRandom,
    log: silent,
  });
  const steps: number[] = [];
  const turns = async (): Promise<number> => {
    let count = 0;
    for (let pages = pragma(path, 'page_count'); (await janitor.tick()) !== Number.POSITIVE_INFINITY; count++) {
      const left = pragma(path, 'page_count');
      steps.push(pages - left);
      pages = left;
    }
    return count;
  };
  await copyWal(path);
  const full = statSync(path).size;
  ok(full > EVENTS * EVENT_BYTES);
  await turns();
  equal(pragma(path, 'page_count') * PAGE_BYTES, full, 'of a file that is full, nothing is given back');
  await prune(filled);
  const count = await turns();
  ok(count > (EVENTS * EVENT_BYTES) / PAGE_BYTES / 256 / 2, `${count} turns: a little at a time`);
  // Besides pages of SQLite's own map, which are dropped along.
  ok(Math.max(...steps) <= 256 + 2, `${Math.max(...steps)} pages in one step`);
  ok(pragma(path, 'freelist_count') * PAGE_BYTES <= KEPT_BYTES);
  // The WAL is copied while the server works on.
  await until('a smaller file', async () => {
    await writeMore(filled);
    return statSync(path).size < full / 2;
  });
  await store.close();
  const left = statSync(path).size;
  t.diagnostic(`${full} bytes became ${left}`);
  ok(left < KEPT_BYTES + 8 * VALUE.length, `${left} bytes`);
  await assertKept(path, filled);
});

test('a store that was killed before its file was cut starts again', async () => {
  await using folder = await createFolder();
  const filled = await fill(folder.path);
  const { path, clock, store } = filled;
  await prune(filled);
  await copyWal(path);
  const full = statSync(path).size;
  equal(await store.reclaimSpace(), true);
  const killed = join(folder.path, 'killed', 'errand.db');
  mkdirSync(join(folder.path, 'killed'));
  for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${killed}${end}`);
  await store.close();
  const { pages, commits } = readWal(`${killed}-wal`);
  deepEqual([pages, commits], [full / PAGE_BYTES, 2], 'the first commit tells how long the file may be');
  equal(statSync(killed).size, full);
  await (await openFull(killed, clock)).close();
  ok(statSync(killed).size < full);
  await assertKept(killed, filled);
});

test('nothing is given back while another process reads for long', async () => {
  await using folder = await createFolder();
  const filled = await fill(folder.path);
  const { path, store } = filled;
  await prune(filled);
  const reading = new DatabaseSync(path, { readOnly: true });
  reading.exec('BEGIN');
  reading.prepare('SELECT count(*) FROM meta').get();
  await timesInTurn(40, () => writeMore(filled));
  const before = pragma(path, 'page_count');
  equal(await store.reclaimSpace(), false);
  equal(pragma(path, 'page_count'), before);
  reading.exec('COMMIT');
  reading.close();
  await until('the WAL is copied', async () => {
    await writeMore(filled);
    return store.reclaimSpace();
  });
  ok(pragma(path, 'page_count') < before);
  await store.close();
  await assertKept(path, filled);
});

test('a file that was made without it keeps its size, and its backup does not', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL');
  db.close();
  const filled = await fill(folder.path);
  equal(pragma(path, 'auto_vacuum'), 0);
  await prune(filled);
  await copyWal(path);
  const full = statSync(path).size;
  equal(await filled.store.reclaimSpace(), false);
  await filled.store.close();
  equal(statSync(path).size, full);
  const copy = join(folder.path, 'copy.db');
  await backupSqlite(path, copy);
  ok(statSync(copy).size < full / 2);
  equal(pragma(copy, 'auto_vacuum'), 2);
  await assertKept(copy, filled);
});
