// How long a process may take to answer: what an overloaded machine took from it does not count.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerTime, afterAnswerTime } from '../../../../src/runner/process/answer-time.ts';

const GRACE_MS = 300;

/** Returns how many intervals pass until a process is silent that stands like this at the end of each. */
function intervals(after: (interval: number) => { state: 'asleep' | 'waiting'; usedMs: number } | null): number {
  const sampled = (interval: number) => {
    const cpu = after(interval);
    const isWaiting = cpu?.state === 'waiting';
    return cpu && { usedMs: cpu.usedMs, isWaiting, isRunnable: isWaiting };
  };
  const time = new AnswerTime(GRACE_MS, 1, sampled(0));
  for (let interval = 1; interval < 1000; interval++) if (time.isOver(1, sampled(interval))) return interval;
  throw new Error('never silent');
}

test('a loop with the CPU is silent after the grace', () => {
  assert.equal(
    intervals((n) => ({ state: 'waiting', usedMs: 1000 + 50 * n })),
    6,
  );
});

test('a process that sleeps is silent after the grace', () => {
  assert.equal(
    intervals(() => ({ state: 'asleep', usedMs: 70 })),
    6,
  );
});

test('a loop with half of the CPU has twice as long', () => {
  assert.equal(
    intervals((n) => ({ state: 'waiting', usedMs: 25 * n })),
    12,
  );
});

test('a process without the CPU is silent at last', () => {
  assert.equal(
    intervals(() => ({ state: 'waiting', usedMs: 70 })),
    60,
  );
});

test('a server that is late gives the process its turns', () => {
  assert.equal(
    intervals((n) => ({ state: 'waiting', usedMs: 5000 * n })),
    6,
  );
});

test('where the system does not tell, time counts', () => {
  assert.equal(
    intervals(() => null),
    6,
  );
});

test('a short grace is one interval', () => {
  const time = new AnswerTime(20, 1, null);
  assert.equal(time.intervalMs, 20);
  assert.equal(time.isOver(1, null), true);
});

test('the most that a process gets is a setting', () => {
  const starved = { usedMs: 0, isWaiting: true, isRunnable: true };
  const time = new AnswerTime(GRACE_MS, 1, starved, 2);
  let count = 1;
  while (count < 1000 && !time.isOver(1, starved)) count++;
  assert.equal(count, 12);
});

test('a server that stands still takes nothing from the time', async () => {
  const over = Promise.withResolvers<void>();
  let isOver = false;
  afterAnswerTime({ graceMs: GRACE_MS, pid: () => undefined }, () => {
    isOver = true;
    over.resolve();
  });
  // As a machine that is paused: nothing of this process goes on.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * GRACE_MS);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isOver, false);
  await over.promise;
});

test('a wait that was ended calls nothing', async () => {
  let isOver = false;
  const end = afterAnswerTime({ graceMs: 20, pid: () => undefined }, () => {
    isOver = true;
  });
  end();
  await new Promise<void>((resolve) => void afterAnswerTime({ graceMs: 100, pid: () => undefined }, resolve));
  assert.equal(isOver, false);
});
