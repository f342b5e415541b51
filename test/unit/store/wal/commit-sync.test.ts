// What a verb's answer says of the disk: the sync is held, let go, or fails, and each is seen from outside.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { renameSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { backupSqlite } from '../../../../src/store/sqlite/maintenance/backup.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { all, strongRandom } from '../../../contract/fixtures.ts';
import { until } from '../../../support/wait.ts';

import { append, committed, entriesIn, makePlace, turns, watch } from './held-disk.ts';

test('a verb waits for a sync that began after its commit', async () => {
  await using place = await makePlace();
  const { disk } = place;
  disk.isHeld = true;
  const first = append(place);
  await committed(place, 1);
  await until('the first sync has begun', () => disk.begun > 0 && first);
  const begun = disk.begun;
  const second = append(place);
  await committed(place, 2);
  await turns();
  equal(first.isOver, false);
  equal(disk.begun, begun, 'one is under way at a time');
  await disk.letGo();
  await first.promise;
  await turns();
  equal(second.isOver, false, 'that sync had begun before its commit');
  await disk.letGo();
  await second.promise;
});

test('commits that are made during a sync share the next one', async () => {
  await using place = await makePlace();
  const { disk } = place;
  disk.isHeld = true;
  const first = append(place);
  await committed(place, 1);
  const more = [];
  for (let n = 2; n <= 6; n++) {
    more.push(append(place));
    await committed(place, n);
  }
  const begun = disk.begun;
  await disk.letGo();
  await first.promise;
  await disk.letGo();
  await Promise.all(more.map(({ promise }) => promise));
  equal(disk.begun, begun + 1);
});

test('what is read waits until it is on disk', async () => {
  await using place = await makePlace();
  const { disk, store, stage } = place;
  const list = () => entriesIn(store, place);
  disk.isHeld = true;
  append(place);
  await committed(place, 1);
  const listed = watch(list());
  const again = watch(store.ledger(stage.owner.id));
  // It waits for what was committed by its end: it reads in several steps.
  const found = watch(store.searchRuns({ ownerId: stage.owner.id }, { limit: 10 }));
  await turns();
  deepEqual([listed.isOver, again.isOver, found.isOver], [false, false, false]);
  await disk.letGo();
  equal((await listed.promise).length, 1);
  equal((await found.promise).items.length, 1);
  await again.promise;
  const begun = disk.begun;
  await list();
  equal(disk.begun, begun, 'nothing is synced for a reader');
});

test('a verb that writes nothing waits for what it has seen', async () => {
  await using place = await makePlace();
  const { disk, store, stage } = place;
  await store.claimRuns(10, all());
  await stage.append(place.trigger.id);
  const before = disk.begun;
  await store.releaseDeliveries([]);
  equal(disk.begun, before, 'nothing to sync');
  disk.isHeld = true;
  append(place);
  await committed(place, 2);
  const empty = watch(store.releaseDeliveries([]));
  await turns();
  equal(empty.isOver, false);
  await disk.letGo();
  await empty.promise;
});

test('closing waits for the last sync', async () => {
  await using place = await makePlace();
  const { disk, store } = place;
  disk.isHeld = true;
  const last = append(place);
  const closing = watch(store.close());
  await committed(place, 1);
  await turns();
  deepEqual([last.isOver, closing.isOver], [false, false]);
  await disk.letGo();
  await last.promise;
  await closing.promise;
  equal(statSync(`${place.path}-wal`, { throwIfNoEntry: false }), undefined);
});

test('a sync that fails is the end of the store', async () => {
  await using place = await makePlace();
  const { disk, lost, store, stage, trigger, clock } = place;
  const { entry } = await stage.append(trigger.id);
  disk.isHeld = true;
  const first = append(place);
  await committed(place, 2);
  const second = append(place);
  await committed(place, 3);
  disk.error = new Error('EIO: i/o error, fdatasync');
  await disk.letGo();
  const mayBeWritten = (error: unknown): boolean => error instanceof StoreUnavailable && error.mayBeWritten;
  await rejects(first.promise, mayBeWritten);
  await rejects(second.promise, mayBeWritten);
  equal(lost.length, 1);
  match(lost[0]?.message ?? '', /EIO/);
  disk.error = null;
  disk.isHeld = false;
  const begun = disk.begun;
  const refused = (error: unknown): boolean => error instanceof StoreUnavailable && !error.mayBeWritten;
  await rejects(stage.append(trigger.id), refused);
  await rejects(entriesIn(store, place), refused);
  equal(await store.check(), false);
  equal(disk.begun, begun, 'a later sync would succeed, and say nothing of what was lost');
  await store.close();
  ok(statSync(`${place.path}-wal`).size > 0, 'nothing is copied from a WAL that may not be whole');
  const after = await openSqliteStore({ path: place.path, clock, random: strongRandom });
  const entries = await entriesIn(after, place);
  ok(entries.includes(entry));
  equal(entries.length, 3);
  await after.close();
});

test('a start copies what the WAL shows before it goes on', async () => {
  await using place = await makePlace();
  const { disk, stage, trigger, clock, path, folder } = place;
  disk.isHeld = true;
  append(place);
  await committed(place, 1);
  // As a process that was killed leaves it.
  const copy = join(folder.path, 'copy.db');
  await copyFile(path, copy);
  await copyFile(`${path}-wal`, `${copy}-wal`);
  await disk.letGo();
  const opened = await openSqliteStore({ path: copy, clock, random: strongRandom });
  const withoutWal = join(folder.path, 'without-wal.db');
  await copyFile(copy, withoutWal);
  await opened.close();
  const db = new DatabaseSync(withoutWal, { readOnly: true });
  const read = db.prepare('SELECT count(*) AS n FROM emissions WHERE emitter_id = ? AND owner_id = ?');
  equal(read.get(trigger.id, stage.owner.id)?.n, 1);
  db.close();
});

test('what is synced is the WAL in use, whatever happens to it', async () => {
  await using place = await makePlace();
  const { disk, path, stage, trigger, folder } = place;
  await stage.append(trigger.id);
  const other = new DatabaseSync(path);
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  equal(statSync(`${path}-wal`).size, 0);
  await stage.append(trigger.id);
  other.exec('PRAGMA wal_checkpoint(RESTART)');
  await stage.append(trigger.id);
  other.close();
  await stage.append(trigger.id);
  await backupSqlite(path, join(folder.path, 'backup.db'));
  await stage.append(trigger.id);
  ok(disk.wasOfWal.length >= 5);
  ok(disk.wasOfWal.every(Boolean));
});

test('a WAL in whose place another file was put is noticed', async () => {
  await using place = await makePlace();
  const { lost, path, stage, trigger } = place;
  await stage.append(trigger.id);
  await copyFile(`${path}-wal`, `${path}-wal-copy`);
  renameSync(`${path}-wal-copy`, `${path}-wal`);
  await rejects(stage.append(trigger.id), StoreUnavailable);
  match(lost[0]?.message ?? '', /another file was put in the place of .*errand\.db-wal/);
});
