// The WAL under writes without a pause: it begins again and again, and all that it had is in the database.

import { equal, ok } from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { strongRandom, TestClock } from '../../../contract/fixtures.ts';
import { Stage } from '../../../contract/stage.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { until } from '../../../support/wait.ts';

const MB = 1024 * 1024;
const BODY = Buffer.from(`{"pad":"${'x'.repeat(64 * 1024)}"}`);
const WRITERS = 32;
const EVENTS = 1600;

async function makePlace() {
  const folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const clock = new TestClock();
  const warnings: string[] = [];
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (_: object, name: string) => void warnings.push(name),
    error: () => undefined,
  };
  const store = await openSqliteStore({ path, clock, random: strongRandom, log });
  const stage = await Stage.on(store, clock);
  const { trigger } = await stage.hooked();
  const write = async (events: number): Promise<void> => {
    let left = events;
    const writer = async (): Promise<void> => {
      while (left-- > 0) await stage.append(trigger.id, { body: BODY });
    };
    await Promise.all(Array.from({ length: WRITERS }, writer));
  };
  return {
    ...{ folder, path, store, warnings, write },
    async [Symbol.asyncDispose]() {
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Counts how often the WAL has begun again. https://sqlite.org/fileformat2.html#the_write_ahead_log */
const beginningsOf = (path: string): number => readFileSync(`${path}-wal`).readUInt32BE(12);

test('the WAL begins again and again while the writes go on', async () => {
  await using place = await makePlace();
  const { path, warnings, write } = place;
  await write(EVENTS);
  // How long it is between two beginnings is up to the machine: the checkpoints are made in a thread of their own.
  await until('it has begun again three times', async () => {
    await write(100);
    return beginningsOf(path) >= 3;
  });
  ok(statSync(path).size > 80 * MB, `the database has ${statSync(path).size}`);
  equal(warnings.length, 0);
});

test('the WAL grows while another process reads, and shrinks behind that', async () => {
  await using place = await makePlace();
  const { path, write } = place;
  await write(100);
  const reading = new DatabaseSync(path, { readOnly: true });
  reading.exec('BEGIN');
  reading.prepare('SELECT count(*) FROM emissions').get();
  const before = beginningsOf(path);
  await write(EVENTS / 4);
  equal(beginningsOf(path), before, 'what it reads is still there');
  reading.exec('COMMIT');
  reading.close();
  await until('it begins again', async () => {
    await write(50);
    return beginningsOf(path) > before;
  });
});

test('every event is there behind many checkpoints', async () => {
  await using place = await makePlace();
  const { path, store, folder, write } = place;
  await write(EVENTS / 4);
  // As a process that was killed leaves it.
  const copy = join(folder.path, 'copy.db');
  await copyFile(path, copy);
  await copyFile(`${path}-wal`, `${copy}-wal`);
  const db = new DatabaseSync(copy);
  equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
  equal(db.prepare('SELECT count(*) AS n FROM emissions WHERE length(body) > 64000').get()?.n, EVENTS / 4);
  db.close();
  await store.close();
  equal(statSync(`${path}-wal`, { throwIfNoEntry: false }), undefined);
});
