// The limit of a webhook's rate: never more starts in any interval, and no slot waits for longer than it must.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { DeliveryLimiter } from '../../../../src/engine/deliveries/delivery-limiter.ts';
import { SlidingWindow } from '../../../../src/engine/deliveries/webhook-state.ts';
import { claimedDelivery, webhook } from '../parts.ts';

function create(limit: number, intervalMs: number) {
  let now = 0;
  let known = webhook({ rateLimit: { limit, intervalMs }, maxInFlight: 256 });
  const limiter = new DeliveryLimiter(() => now);
  const starts: number[] = [];
  const take = (): boolean => limiter.take('wh_1', known);
  const join = (): boolean => {
    const isSent = limiter.join('wh_1', claimedDelivery(1)) === 'send';
    if (isSent) starts.push(now);
    return isSent;
  };
  const send = (): boolean => take() && join();
  const changeTo = (changed: number): void => {
    known = webhook({ ...known.settings, rateLimit: { limit: changed, intervalMs } });
  };
  return { limiter, starts, take, join, send, changeTo, pass: (ms: number) => (now += ms), now: () => now };
}

type Step = 'take' | 'join' | 'drop' | 'done' | number;
const steps = fc.array(
  fc.oneof(fc.constantFrom<Step>('take', 'join', 'drop', 'done'), fc.integer({ min: 1, max: 40 })),
  {
    maxLength: 300,
  },
);

test('no interval has more starts than allowed', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 100 }), steps, (limit, intervalMs, made) => {
      const { limiter, starts, take, join, pass } = create(limit, intervalMs);
      let [claiming, sending] = [0, 0];
      for (const step of made) {
        if (typeof step === 'number') pass(step);
        else if (step === 'take') claiming += take() ? 1 : 0;
        else if (step === 'join' && claiming > 0) {
          claiming--;
          assert.equal(join(), true, 'a slot that was taken is worth a request');
          sending++;
        } else if (step === 'drop' && claiming > 0) {
          claiming--;
          limiter.drop('wh_1');
        } else if (step === 'done' && sending > 0) {
          sending--;
          limiter.came('wh_1', { tookMs: 1, isDelivered: true });
          limiter.done('wh_1');
        }
      }
      for (let n = limit; n < starts.length; n++) {
        assert.ok((starts[n] as number) - (starts[n - limit] as number) >= intervalMs, `${starts}`);
      }
    }),
  );
});

test('a slot comes free exactly when it may', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 40 }),
      (limit, gaps) => {
        const { limiter, send, pass } = create(limit, 50);
        for (const gap of gaps) {
          pass(gap);
          limiter.beginClaim();
          if (send()) continue;
          const waitMs = limiter.freeInMs;
          assert.ok(waitMs > 0 && waitMs <= 50);
          pass(waitMs - 1);
          assert.equal(send(), false, 'not earlier');
          pass(1);
          assert.equal(send(), true, 'and not later');
        }
      },
    ),
  );
});

test('a slot not yet used counts as used', () => {
  const { take, limiter } = create(2, 1000);
  assert.deepEqual([take(), take(), take()], [true, true, false]);
  limiter.drop('wh_1');
  assert.equal(take(), true, 'what was dropped is free again');
});

test('nobody is told of when no slot was refused', () => {
  const { send, limiter } = create(3, 1000);
  send();
  assert.equal(limiter.freeInMs, Number.POSITIVE_INFINITY);
});

test('the first of several webhooks is told of', () => {
  const { limiter, send, pass } = create(1, 1000);
  send();
  pass(300);
  const other = webhook({ rateLimit: { limit: 1, intervalMs: 200 } }, { id: 'wh_2' });
  limiter.take('wh_2', other);
  limiter.join('wh_2', claimedDelivery(2));
  send();
  assert.equal(limiter.freeInMs, 700);
  limiter.take('wh_2', other);
  assert.equal(limiter.freeInMs, 200);
  limiter.beginClaim();
  assert.equal(limiter.freeInMs, 200, 'until then it is known');
  pass(200);
  limiter.beginClaim();
  assert.equal(limiter.freeInMs, Number.POSITIVE_INFINITY, 'from then on those who still wait ask again');
});

test('a limited webhook has none claimed ahead', () => {
  const { limiter, send, take } = create(10_000, 1000);
  send();
  limiter.came('wh_1', { tookMs: 1, isDelivered: true });
  limiter.done('wh_1');
  let taken = 0;
  while (take()) taken++;
  assert.equal(taken, 256);
});

test('a lowered limit holds for what is claimed', () => {
  const { limiter, take, join, changeTo } = create(3, 1000);
  for (let n = 0; n < 3; n++) take();
  changeTo(1);
  assert.equal(take(), false);
  assert.deepEqual([join(), join(), join()], [true, false, false]);
  assert.equal(limiter.slotsTaken, 1);
});

test('many starts are kept in order', () => {
  const starts = new SlidingWindow();
  for (let n = 0; n < 5000; n++) {
    starts.add(n);
    assert.equal(starts.within(100, n), Math.min(n + 1, 100));
    assert.equal(starts.time(0), Math.max(0, n - 99));
  }
  assert.equal(starts.time(100), undefined);
  assert.equal(starts.within(100, 10_000), 0);
});
