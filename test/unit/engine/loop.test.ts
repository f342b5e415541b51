import assert from 'node:assert/strict';
import test from 'node:test';
import { Loop } from '../../../src/engine/loop.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

function counted(waitMs: number) {
  let ticks = 0;
  const waiting: { at: number; resolve: () => void }[] = [];
  const loop = new Loop({
    name: 'test',
    maxWaitMs: 60_000,
    log: quiet,
    tick: async () => {
      ticks++;
      for (const w of waiting.filter(({ at }) => at <= ticks)) w.resolve();
      return waitMs;
    },
  });
  const reached = (at: number) =>
    new Promise<void>((resolve) => (ticks >= at ? resolve() : waiting.push({ at, resolve })));
  return { loop, reached, ticks: () => ticks };
}

test('a wake cuts a long wait short', async () => {
  const { loop, reached } = counted(60_000);
  loop.start();
  await reached(1);
  loop.wake();
  await reached(2);
  await loop.stop();
});

test('a wake during a tick is not lost', async () => {
  let ticks = 0;
  const twice = Promise.withResolvers<void>();
  const loop: Loop = new Loop({
    name: 'test',
    maxWaitMs: 60_000,
    log: quiet,
    tick: async () => {
      ticks++;
      if (ticks === 1) loop.wake();
      else twice.resolve();
      return 60_000;
    },
  });
  loop.start();
  await twice.promise;
  await loop.stop();
});

test('no wait means the next tick at once', async () => {
  const { loop, reached } = counted(0);
  loop.start();
  await reached(5);
  await loop.stop();
});

test('a tick that throws is logged and repeated', async () => {
  const errors: object[] = [];
  let ticks = 0;
  const again = Promise.withResolvers<void>();
  const loop = new Loop({
    name: 'test',
    maxWaitMs: 60_000,
    log: { ...quiet, error: (fields) => void errors.push(fields) },
    tick: async () => {
      ticks++;
      if (ticks === 1) throw new Error('storage away');
      again.resolve();
      return 60_000;
    },
  });
  loop.start();
  await again.promise;
  assert.equal(errors.length, 1);
  await loop.stop();
});

test('stopping twice, or before starting, is fine', async () => {
  const { loop, ticks } = counted(0);
  await loop.stop();
  await loop.stop();
  loop.wake();
  assert.equal(ticks(), 0);
});
