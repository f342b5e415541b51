// Two nodes, one behind a network that holds the database's answers back again and again, for longer than the time
// between two ticks is off by otherwise: each due time is fired once, and no wait ends before its time. (The test's
// process and the database have one clock.)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as elapse } from 'node:timers/promises';
import { none } from '../../contract/fixtures.ts';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { startCutter } from '../../support/postgres/cut.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';
import { seenFrom } from './nodes.ts';

const HELD_MS = 350;
const FREE_MS = 150;
const TICKS = 6;
const DELAYS = 10;

const DELAYED = `
export const asked = ({ $ }) => { $.flow.delay(400); return Date.now() + 400; };
export default ({ steps }) => Date.now() - steps.asked.$return_value;`;

async function startSlow() {
  const database = await newDatabase();
  const { hostname, port, pathname } = new URL(database.url);
  assert.equal(hostname, '127.0.0.1');
  const cutter = await startCutter(Number(port));
  const near = await startErrand({ ERRAND_DATABASE_URL: database.url }, { databaseClock: null });
  const far = await startErrand({ ERRAND_DATABASE_URL: cutter.url(pathname.slice(1)) }, { databaseClock: null });
  let isHeld = false;
  const turn = (): void => {
    isHeld = !isHeld;
    if (isHeld) cutter.hold('answers');
    else cutter.resume();
    timer = setTimeout(turn, isHeld ? HELD_MS : FREE_MS);
  };
  let timer = setTimeout(turn, FREE_MS);
  const dispose = async (): Promise<void> => {
    clearTimeout(timer);
    cutter.resume();
    await far[Symbol.asyncDispose]();
    await near[Symbol.asyncDispose]();
    await cutter.dispose();
    await database.drop();
  };
  return { near, far, [Symbol.asyncDispose]: dispose };
}

async function eventsOf({ client }: { client: Json }, runs: readonly Json[]): Promise<Json[]> {
  const shown = await Promise.all(runs.map(({ id }) => client.get(`/v1/runs/${id}`)));
  return shown.map(({ data }) => data.event);
}

test('each due time is fired once, and no wait ends early', async () => {
  await using nodes = await startSlow();
  const { near, far } = nodes;
  const triggers = [{ type: 'schedule', cron: '* * * * * *' }];
  const ticking = await Promise.all([near, far].map((node) => node.workflow('export default () => 1', { triggers })));
  const delayed = await near.workflow(DELAYED);
  for (let n = 0; n < DELAYS; n++) {
    const node = n % 2 === 0 ? far : near;
    await node.send(seenFrom(node, delayed), {});
  }
  const waited = await near.runs(delayed.id, DELAYS);
  for (const { id } of waited) {
    const { data } = await near.client.get(`/v1/runs/${id}`);
    const lateMs = data.steps.at(-1).return_value;
    assert.ok(lateMs >= 0, `it went on ${-lateMs} ms before its time`);
  }
  for (const { id } of ticking) {
    const runs = await near.runs(id, TICKS);
    const events = await eventsOf(near, runs);
    const dueTimes = events.map(({ due_at_ms }) => due_at_ms);
    assert.equal(new Set(dueTimes).size, dueTimes.length, `each once: ${dueTimes}`);
    for (const [i, { due_at_ms, timestamp }] of events.entries()) {
      assert.equal(due_at_ms % 1000, 0);
      assert.ok(timestamp * 1000 >= due_at_ms, `${timestamp} is not before ${due_at_ms}`);
      assert.ok(runs[i].created_at_ms >= due_at_ms, 'it is not before its time');
    }
  }
});

test('an answer that was held back does not set the clock back', async () => {
  const database = await newDatabase();
  const { port, pathname } = new URL(database.url);
  await using cutter = await startCutter(Number(port));
  const store = await openTestStore({ url: cutter.url(pathname.slice(1)), clock: null });
  try {
    await store.claimRuns(1, none());
    const [beforeMs, from] = [store.clock.nowMs(), performance.now()];
    cutter.hold('answers');
    const claimed = store.claimRuns(1, none());
    // The time that is lost is what the test is about.
    await elapse(HELD_MS);
    cutter.resume();
    await claimed;
    const passedMs = performance.now() - from;
    assert.ok(store.clock.nowMs() - beforeMs >= passedMs - 2, `${store.clock.nowMs() - beforeMs} of ${passedMs} ms`);
    assert.ok(store.clock.latestMs() >= store.clock.nowMs());
  } finally {
    await store.close();
    await database.drop();
  }
});
