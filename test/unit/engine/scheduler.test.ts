// What time brings, by a store that only says what it was asked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Times, type TimesDeps } from '../../../src/engine/schedule/scheduler.ts';
import { createLog, createWake, random } from './parts.ts';

const NOW_MS = 1_782_000_000_000;

test('retention goes by days, step by step', async () => {
  const asked: [beforeMs: number, from: number][] = [];
  const nexts = [7, null, null];
  const prune = async (beforeMs: number, from: number) => {
    asked.push([beforeMs, from]);
    return { emissions: 0, next: nexts.shift() ?? null };
  };
  const { wake } = createWake();
  const clock = { nowMs: () => NOW_MS };
  const deps = { store: { prune }, wake, clock, random, log: createLog().log, retentionDays: 30 };
  const times = new Times(deps as unknown as TimesDeps);
  assert.ok((await times.tickRetention()) < 1000, 'there is more');
  assert.equal(await times.tickRetention(), Number.POSITIVE_INFINITY);
  await times.tickRetention();
  const before = NOW_MS - 30 * 24 * 60 * 60 * 1000;
  assert.deepEqual(asked, [
    [before, 0],
    [before, 7],
    [before, 0],
  ]);
});
