import assert from 'node:assert/strict';
import test from 'node:test';
import { Loop } from '../../../src/engine/loop.ts';
import { StoreUnavailable } from '../../../src/store/contract/unavailable.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
// Nothing brings a tick but what a test does: a lost wake-up would else be made good by the next poll.
const unpolled = { log: quiet, isPolling: false };
const random = { bytes: (count: number) => new Uint8Array(count), fraction: () => 0.5 };

function counted(waitMs: number) {
  let ticks = 0;
  const waiting: { at: number; resolve: () => void }[] = [];
  const loop = new Loop(
    {
      name: 'test',
      maxWaitMs: 60_000,
      tick: async () => {
        ticks++;
        for (const w of waiting.filter(({ at }) => at <= ticks)) w.resolve();
        return waitMs;
      },
    },
    { random, ...unpolled },
  );
  const reached = (at: number) =>
    new Promise<void>((resolve) => (ticks >= at ? resolve() : waiting.push({ at, resolve })));
  return { loop, reached, ticks: () => ticks };
}

test('a wake cuts a long wait short', async () => {
  const { loop, reached } = counted(Number.POSITIVE_INFINITY);
  loop.start();
  await reached(1);
  loop.wake();
  await reached(2);
  await loop.stop();
});

test('a wake during a tick is not lost', async () => {
  let ticks = 0;
  const twice = Promise.withResolvers<void>();
  const loop: Loop = new Loop(
    {
      name: 'test',
      maxWaitMs: 60_000,
      tick: async () => {
        ticks++;
        if (ticks === 1) loop.wake();
        else twice.resolve();
        return Number.POSITIVE_INFINITY;
      },
    },
    { random, ...unpolled },
  );
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
  const loop = new Loop(
    {
      name: 'test',
      maxWaitMs: 60_000,
      tick: async () => {
        ticks++;
        if (ticks === 1) throw new Error('storage away');
        again.resolve();
        return Number.POSITIVE_INFINITY;
      },
    },
    { random, ...unpolled, log: { ...quiet, error: (fields) => void errors.push(fields) } },
  );
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

test('wakes that never cease do not put it off', async (t) => {
  const { loop, reached } = counted(60_000);
  loop.start();
  await reached(1);
  // The tick is over by then.
  await new Promise((resolve) => setImmediate(resolve));
  const timers = t.mock.method(globalThis, 'setTimeout');
  loop.wake(5);
  for (let n = 0; n < 100; n++) loop.wake(5);
  const count = timers.mock.callCount();
  await reached(2);
  await loop.stop();
  assert.equal(count, 1);
});

test('a wake for later does not delay an earlier one', async () => {
  const { loop, reached } = counted(Number.POSITIVE_INFINITY);
  loop.start();
  await reached(1);
  loop.wake(5);
  loop.wake(2 ** 31 - 1);
  await reached(2);
  await loop.stop();
});

test('the longest wait differs by up to a tenth', async (t) => {
  const waits: number[] = [];
  t.mock.method(globalThis, 'setTimeout', (_fire: () => void, waitMs: number) => {
    waits.push(waitMs);
    if (waits.length <= 2) setImmediate(_fire);
  });
  for (const fraction of [0, 1]) {
    waits.length = 0;
    const fractions = { ...random, fraction: () => fraction };
    const ticks = [Number.POSITIVE_INFINITY, 20];
    const done = Promise.withResolvers<void>();
    const tick = async (): Promise<number> => {
      if (ticks.length === 1) setImmediate(done.resolve);
      return ticks.shift() as number;
    };
    const loop = new Loop({ name: 'test', maxWaitMs: 1000, tick }, { random: fractions, log: quiet });
    loop.start();
    await done.promise;
    await loop.stop();
    assert.deepEqual(waits.map(Math.round), [0, fraction === 0 ? 900 : 1100, 20]);
  }
});

test('failures of storage are for the outage alone', async () => {
  const [failed, logged]: [string[], string[]] = [[], []];
  const tell = (_fields: object, name: string) => void logged.push(name);
  let ticks = 0;
  const over = Promise.withResolvers<void>();
  const loop: Loop = new Loop(
    {
      name: 'test',
      maxWaitMs: 60_000,
      tick: async () => {
        ticks++;
        if (ticks === 6) over.resolve();
        else loop.wake();
        if (ticks !== 3) throw new StoreUnavailable('connection lost');
        return 0;
      },
    },
    {
      random,
      log: { ...quiet, warn: tell, error: tell },
      outage: { failed: (error, part) => void failed.push(`${part}: ${(error as Error).message}`) },
    },
  );
  loop.start();
  await over.promise;
  await loop.stop();
  assert.deepEqual(failed, new Array(5).fill('test: connection lost'));
  assert.deepEqual(logged, []);
});

test('the stop waits for the tick under way', async () => {
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isOver = false;
  const tick = async (): Promise<number> => {
    begun.resolve();
    await go.promise;
    isOver = true;
    return 0;
  };
  const loop = new Loop({ name: 'test', maxWaitMs: 1000, tick }, { random, log: quiet });
  loop.start();
  await begun.promise;
  const wasOver = loop.stop().then(() => isOver);
  await new Promise((resolve) => setImmediate(resolve));
  go.resolve();
  assert.equal(await wasOver, true);
});
