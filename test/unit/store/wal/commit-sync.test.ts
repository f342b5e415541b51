// What a verb's answer says of the disk: the sync is held, let go, or fails, and each is seen from outside.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { fdatasync, fstatSync, renameSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Store, StoreUnavailable } from '../../../../src/store/contract/store.ts';
import { backupSqlite } from '../../../../src/store/sqlite/maintenance/backup.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { all, strongRandom, TestClock } from '../../../contract/fixtures.ts';
import { Stage } from '../../../contract/stage.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { until } from '../../../support/wait.ts';

/** Stands in for fdatasync. While it is held, each sync waits to be let go. */
class Disk {
  isHeld = false;
  /** How many have begun. */
  begun = 0;
  error: Error | null = null;
  /** Whether each was of the WAL that the path names. */
  readonly wasOfWal: boolean[] = [];
  readonly #held: (() => void)[] = [];
  readonly #wal: string;

  constructor(path: string) {
    this.#wal = `${path}-wal`;
  }

  readonly sync = async (descriptor: number): Promise<void> => {
    this.begun++;
    this.wasOfWal.push(fstatSync(descriptor).ino === statSync(this.#wal).ino);
    if (this.isHeld) await new Promise<void>((resolve) => this.#held.push(resolve));
    if (this.error) throw this.error;
    await promisify(fdatasync)(descriptor);
  };

  /** Lets one sync that is under way end. */
  async letGo(): Promise<void> {
    (await until('a sync is under way', () => this.#held.shift()))();
  }
}

async function makePlace() {
  const folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const clock = new TestClock();
  const disk = new Disk(path);
  const lost: Error[] = [];
  const onLost = (error: Error): void => void lost.push(error);
  const store = await openSqliteStore({ path, clock, random: strongRandom, syncFile: disk.sync, onLost });
  const stage = await Stage.on(store, clock);
  const { workflow, trigger } = await stage.hooked();
  return {
    ...{ folder, path, clock, disk, lost, store, stage, workflow, trigger },
    async [Symbol.asyncDispose]() {
      disk.isHeld = false;
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

type Place = Awaited<ReturnType<typeof makePlace>>;

async function entriesIn(store: Store, { stage, workflow }: Place): Promise<number[]> {
  const { items } = await store.listRuns({ ownerId: stage.owner.id, runnableId: workflow.id }, { limit: 100 });
  return items.map(({ entry }) => entry);
}

interface Watched<T> {
  readonly promise: Promise<T>;
  isOver: boolean;
}

function watch<T>(promise: Promise<T>): Watched<T> {
  const watched = { promise, isOver: false };
  const over = (): void => {
    watched.isOver = true;
  };
  promise.then(over, over);
  return watched;
}

const append = ({ stage, trigger }: Place) => watch(stage.append(trigger.id));

/** An emission of its own is written without waiting for a sync: seen by another connection. */
async function committed({ path, trigger }: Place, count: number): Promise<void> {
  const db = new DatabaseSync(path, { readOnly: true });
  const read = db.prepare('SELECT count(*) AS n FROM emissions WHERE emitter_id = ?');
  await until(`${count} are committed`, () => (read.get(trigger.id)?.n as number) >= count);
  db.close();
}

async function turns(): Promise<void> {
  for (let n = 0; n < 20; n++) await turn();
}

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
  await store.releaseRuns([]);
  equal(disk.begun, before, 'nothing to sync');
  disk.isHeld = true;
  append(place);
  await committed(place, 2);
  const empty = watch(store.releaseRuns([]));
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
