// What time brings, by a store that only says what it was asked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Scheduler, type SchedulerDeps } from '../../../src/engine/schedule/scheduler.ts';
import { createLog, createWake, NOTHING, random } from './parts.ts';

const NOW_MS = 1_782_000_000_000;

test('retention goes by days, step by step', async () => {
  const asked: [beforeMs: number, from: number][] = [];
  const nexts = [7, null, null];
  const prune = async (beforeMs: number, from: number) => {
    asked.push([beforeMs, from]);
    return { emissions: 0, next: nexts.shift() ?? null };
  };
  const errorsAsked: unknown[] = [];
  const places = [{ emitterId: 'p_1', entry: 3 }, null, null];
  const pruneErrors = async (...of: unknown[]) => {
    errorsAsked.push(of);
    return { emissions: 0, next: places.shift() ?? null };
  };
  const { wake } = createWake();
  const clock = { nowMs: () => NOW_MS };
  const deps = { store: { prune, pruneErrors }, wake, clock, random, log: createLog().log, retentionDays: 30 };
  const times = new Scheduler(deps as unknown as SchedulerDeps);
  for (let n = 0; n < 3; n++) assert.ok((await times.tickRetention()) < 1000, 'there is more');
  assert.equal(await times.tickRetention(), Number.POSITIVE_INFINITY);
  await times.tickRetention();
  const before = NOW_MS - 30 * 24 * 60 * 60 * 1000;
  assert.deepEqual(asked, [
    [before, 0],
    [before, 7],
    [before, 0],
  ]);
  const of = { beforeMs: before, nowMs: NOW_MS };
  assert.deepEqual(errorsAsked, [
    [of, { emitterId: '', entry: null }],
    [of, { emitterId: 'p_1', entry: 3 }],
  ]);
});

test('the next look is when something is due', async () => {
  const isMore = [false, true, false];
  const back = [0, 3000];
  const store = {
    followClock: async () => back.shift() ?? 0,
    dueTriggers: async () => [],
    closeDigests: async () => NOTHING,
    releaseLater: async () => ({ claims: NOTHING, isMore: false }),
    tellGlobal: async () => ({ claims: NOTHING, isMore: false }),
    endWaits: async () => ({ queued: 0, cancelled: [], isMore: isMore.shift() ?? false }),
    nextDueAtMs: async () => NOW_MS + 1234,
  };
  const dispatch = { take: () => undefined };
  const { wake } = createWake();
  const watches = { tickWatches: async () => false };
  const sendNotices = async () => false;
  const clock = { nowMs: () => NOW_MS };
  const deps = { store, dispatch, wake, watches, sendNotices, clock, random, log: createLog().log };
  const times = new Scheduler(deps as unknown as SchedulerDeps);
  assert.equal(await times.tickDue(), 1234);
  assert.equal(await times.tickDue(), 0, 'more waits are over');
  store.nextDueAtMs = async () => null as never;
  assert.equal(await times.tickDue(), Number.POSITIVE_INFINITY);
});
