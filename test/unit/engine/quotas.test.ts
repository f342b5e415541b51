import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NO_QUOTAS, type Quotas } from '../../../src/domain/quota.ts';
import { Refusal } from '../../../src/domain/refusal.ts';
import { OwnerQuotas } from '../../../src/engine/capacity/quotas.ts';
import { RequestRate } from '../../../src/engine/capacity/token-bucket.ts';
import type { Measured, MeasuringPlace, StoredBytes } from '../../../src/store/contract/quotas.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function stage() {
  const quotas = new Map<string, Quotas>();
  let stored = new Map<string, StoredBytes>();
  const real = { nowMs: 1_000_000_000_000, bytes: 0, steps: 0 };
  const store = {
    setQuotas: async (ownerId: string, change: Partial<Quotas>) => {
      if (ownerId !== 'u_1') return undefined;
      const given = { ...NO_QUOTAS, ...quotas.get(ownerId), ...change };
      quotas.set(ownerId, given);
      return given;
    },
    listQuotas: async () => new Map(quotas),
    storedBytes: async () => stored,
    measureBytes: async ({ part }: MeasuringPlace) => {
      real.steps++;
      const measured: Measured[] = [{ ownerId: 'u_1', bytes: real.bytes / 2 }];
      return { measured, next: part === 1 ? null : { part: part + 1, after: null } };
    },
    keepMeasured: async (measured: readonly Measured[], measuredAtMs: number) => {
      stored = new Map(measured.map(({ ownerId, bytes }) => [ownerId, { bytes, measuredAtMs }]));
    },
    getOwner: async (id: string) => (id === 'u_1' ? ({ id } as never) : undefined),
  };
  const made = new OwnerQuotas({
    store,
    clock: { nowMs: () => real.nowMs },
    random: { bytes: () => new Uint8Array(), fraction: () => 0.5 },
    log: silent,
    runnerUse: () => ({ processes: 2, cpuMs: 1234 }),
  });
  return { quotas: made, of: quotas, real };
}

const refused = (retryAfterS?: number) => (error: unknown) =>
  error instanceof Refusal &&
  error.code === 'rate_limited' &&
  (retryAfterS === undefined ? (error.retryAfterS ?? 0) > 0 : error.retryAfterS === retryAfterS);

test('an owner without quotas is asked nothing', async () => {
  const { quotas } = stage();
  await quotas.read();
  for (let n = 0; n < 10_000; n++) {
    quotas.takeRequest('u_1');
    quotas.takeStored('u_1', 1e12);
  }
  assert.deepEqual(quotas.of('u_1'), NO_QUOTAS);
});

test('requests beyond the quota are refused until there is room', async () => {
  const { quotas, real } = stage();
  await quotas.set('u_1', { ...NO_QUOTAS, requestsPerSecond: 20 });
  for (let n = 0; n < 20; n++) quotas.takeRequest('u_1');
  assert.throws(() => quotas.takeRequest('u_1'), refused(1));
  quotas.takeRequest('u_2');
  real.nowMs += 50;
  quotas.takeRequest('u_1');
  assert.throws(() => quotas.takeRequest('u_1'), refused());
  real.nowMs += 1000;
  const { use } = await quotas.show('u_1');
  assert.deepEqual([use.requestsPerSecond, use.processes, use.cpuSecondsPerMinute], [21, 2, 1.2]);
});

test('what another node sets holds here, too', async () => {
  const { quotas, of, real } = stage();
  await quotas.read();
  quotas.takeRequest('u_1');
  of.set('u_1', { ...NO_QUOTAS, requestsPerSecond: 1 });
  real.nowMs += 2000;
  await quotas.tick();
  for (let n = 0; n < 10; n++) quotas.takeRequest('u_1');
  assert.throws(() => quotas.takeRequest('u_1'), refused(1));
  of.set('u_1', NO_QUOTAS);
  real.nowMs += 2000;
  await quotas.tick();
  for (let n = 0; n < 100; n++) quotas.takeRequest('u_1');
});

test('stored bytes are measured, and what came since counts', async () => {
  const { quotas, real } = stage();
  real.bytes = 600;
  await quotas.set('u_1', { ...NO_QUOTAS, storedBytes: 1000 });
  while ((await quotas.tick()) < 1000);
  const { use } = await quotas.show('u_1');
  assert.deepEqual([use.storedBytes, use.storedBytesAtMs], [600, real.nowMs]);
  quotas.takeStored('u_1', 399);
  assert.equal(quotas.isFull('u_1'), false);
  quotas.takeStored('u_1', 1);
  assert.throws(() => quotas.takeStored('u_1', 1), refused());
  quotas.takeStored('u_2', 1);
  // Something was deleted, and is known to be gone when it is measured next; what comes meanwhile counts on.
  real.bytes = 10;
  real.nowMs += 5 * 60_000;
  while ((await quotas.tick()) < 1000);
  quotas.takeStored('u_1', 1);
  assert.equal(quotas.isFull('u_1'), false);
});

test('stored bytes are measured and counted behind a clock that was set back', async () => {
  const { quotas, real } = stage();
  real.bytes = 600;
  await quotas.set('u_1', { ...NO_QUOTAS, storedBytes: 1000 });
  while ((await quotas.tick()) < 1000);
  quotas.takeStored('u_1', 200);
  real.nowMs -= 86_400_000;
  real.bytes = 800;
  while ((await quotas.tick()) < 1000);
  const { use } = await quotas.show('u_1');
  assert.deepEqual([use.storedBytesAtMs, quotas.isFull('u_1')], [real.nowMs, true], 'both count what has just come');
  // What came before is known to be measured as soon as ever.
  real.nowMs += 5 * 60_000;
  while ((await quotas.tick()) < 1000);
  quotas.takeStored('u_1', 199);
  real.nowMs += 2000;
  while ((await quotas.tick()) < 1000);
  assert.equal(quotas.isFull('u_1'), false);
  quotas.takeStored('u_1', 1);
  assert.equal(quotas.isFull('u_1'), true);
});

test('one node measures for all, and seldom unasked', async () => {
  const { quotas, real } = stage();
  while ((await quotas.tick()) < 1000);
  const { steps } = real;
  assert.ok(steps > 0);
  real.nowMs += 10 * 60_000;
  await quotas.tick();
  assert.equal(real.steps, steps, 'it was done within the hour');
});

test('an owner who is not there has no quotas', async () => {
  const { quotas } = stage();
  await assert.rejects(quotas.set('u_3', NO_QUOTAS), { code: 'not_found' });
  await assert.rejects(quotas.show('u_3'), { code: 'not_found' });
});

test('a rate is kept over any time, and says when', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat(400), { minLength: 50, maxLength: 300 }),
      (rate, gaps) => {
        const requests = new RequestRate(rate, 0);
        let nowMs = 0;
        const taken: number[] = [];
        for (const gap of gaps) {
          nowMs += gap;
          const waitS = requests.take(nowMs);
          if (waitS === 0) taken.push(nowMs);
          else assert.equal(new RequestRate(rate, nowMs).take(nowMs + waitS * 1000), 0);
        }
        const burst = Math.max(10, rate);
        for (const from of taken) {
          const within = taken.filter((at) => at >= from && at < from + 5000).length;
          assert.ok(within <= burst + 5 * rate, `${within} in 5 s at ${rate}/s`);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('a clock that is set back stops no refilling', () => {
  const [beforeMs, backMs] = [1_000_003_600_000, 1_000_000_000_000];
  const rate = new RequestRate(2, beforeMs);
  const taken = Array.from({ length: 11 }, () => rate.take(backMs));
  assert.deepEqual(taken, [...new Array(10).fill(0), 1]);
  assert.deepEqual([rate.take(backMs + 1000), rate.take(backMs + 1000), rate.take(backMs + 1000)], [0, 0, 1]);
});

test('a long pause saves up no more than a burst', () => {
  const [beforeMs, afterMs] = [1_000_000_000_000, 1_000_003_600_000];
  const rate = new RequestRate(2, beforeMs);
  assert.equal(rate.take(beforeMs), 0);
  const taken = Array.from({ length: 11 }, () => rate.take(afterMs));
  assert.deepEqual(taken, [...new Array(10).fill(0), 1]);
});
