// Room in the row of a run for what its end writes: which rows have it, and that pages are not divided.

import { deepEqual, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { ClaimedRun } from '../../../../src/domain/run/run.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { all, aStep, only, strongRandom, succeeded, TestClock, waits } from '../../../contract/fixtures.ts';
import { Stage } from '../../../contract/stage.ts';
import { createFolder } from '../../../support/folders/folder.ts';

async function makePlace() {
  const folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const clock = new TestClock();
  const store = await openSqliteStore({ path, clock, random: strongRandom });
  const stage = await Stage.on(store, clock);
  const { trigger } = await stage.hooked();
  const db = new DatabaseSync(path, { readOnly: true });
  const read = (sql: string): unknown[] =>
    db
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  return {
    ...{ stage, store, trigger, read },
    async [Symbol.asyncDispose]() {
      db.close();
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const ROOMS = 'SELECT length(room) FROM runs ORDER BY run';
const reportOf = (bytes: number) =>
  succeeded({ steps: [aStep('a', { returnValue: JSON.stringify('x'.repeat(bytes)) })] });

test('runs that are over or wait keep no room', async () => {
  await using place = await makePlace();
  const { stage, store, trigger, read } = place;
  const ends = only((await stage.append(trigger.id, {}, all())).claims.runs);
  const waiting = only((await stage.append(trigger.id, {}, all())).claims.runs);
  const { firstRun: cancelled } = await stage.append(trigger.id);
  await stage.append(trigger.id);
  const rooms = read(ROOMS) as number[];
  ok(rooms.length === 4 && rooms.every((room) => room > 100), `${rooms}`);
  await stage.end(ends, reportOf(10));
  await stage.end(waiting, waits());
  await store.cancelRun(stage.owner.id, cancelled as number);
  deepEqual(read(ROOMS), [null, null, null, rooms[3]]);
});

test('the room is as long as the latest report, unless that is long', async () => {
  await using place = await makePlace();
  const { stage, trigger, read } = place;
  const latest = async (): Promise<number | null> => {
    await stage.append(trigger.id);
    return read('SELECT length(room) FROM runs ORDER BY run DESC LIMIT 1')[0] as number | null;
  };
  const endWith = async (bytes: number): Promise<void> => {
    await stage.append(trigger.id);
    await stage.end(only(await stage.claim(1)), reportOf(bytes));
  };
  await endWith(300);
  const longer = await latest();
  await endWith(10);
  const shorter = await latest();
  ok(longer !== null && shorter !== null && longer - shorter === 290, `${longer} ${shorter}`);
  await endWith(5000);
  deepEqual(await latest(), null);
});

test('ends of runs divide no pages', async () => {
  await using place = await makePlace();
  const { stage, trigger, read } = place;
  const pages = (): number => read('PRAGMA page_count')[0] as number;
  const end = async (begun: readonly ClaimedRun[]): Promise<void> => {
    for (const run of begun) await stage.end(run, reportOf(40));
  };
  // The first one tells how long the others' reports will be.
  await end((await stage.append(trigger.id, {}, all())).claims.runs);
  const begun: ClaimedRun[] = [];
  for (let n = 0; n < 200; n++) begun.push(...(await stage.append(trigger.id, {}, all())).claims.runs);
  for (let n = 0; n < 200; n++) await stage.append(trigger.id);
  const before = pages();
  await end(begun);
  for (let n = 0; n < 4; n++) await end(await stage.claim(50));
  deepEqual(read("SELECT count(*) FROM runs WHERE state = 'succeeded'"), [401]);
  ok(pages() <= before + 2, `${before} pages, ${pages()} after the ends`);
});
