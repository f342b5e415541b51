// What is sent to a webhook while outcomes are being committed: who stands in line, and what stops it.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AttemptEnd, Attempted } from '../../../../src/store/contract/store.ts';
import { answered } from '../parts.ts';
import { busy, create, MAX, numbersOf, RECORDED, settled } from './sending.ts';

/** Commits of what was not delivered hang until they are let go. */
function slowCommits(more: Partial<Attempted> = {}) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const recordAttempt = ({ state }: AttemptEnd): Promise<Attempted> =>
    state === 'delivered' ? Promise.resolve(RECORDED) : promise.then(() => ({ ...RECORDED, ...more }));
  return { recordAttempt, commit: resolve };
}

test('who stands in line is sent in turn', async () => {
  const { deliveries, slots, posted, released, recorded, pass } = await busy(2);
  pass(1000);
  for (let n = 0; n < MAX + 2; n++) {
    posted[n]?.answer();
    await settled();
  }
  await deliveries.stop(1000);
  assert.deepEqual(
    numbersOf(posted),
    Array.from({ length: MAX + 2 }, (_, n) => n + 1),
  );
  assert.deepEqual(released, []);
  assert.equal(recorded.length, MAX + 2);
  assert.equal(slots.inFlight.deliveries, 0);
});

test('who has stood in line for too long goes back unsent', async () => {
  const { deliveries, slots, posted, released, pass, claim } = await busy(3);
  pass(1001);
  claim(100);
  for (const { answer } of posted) answer();
  await settled();
  for (const { answer } of posted) answer();
  await deliveries.stop(1000);
  assert.deepEqual(released, [MAX + 1, MAX + 2, MAX + 3]);
  assert.deepEqual(numbersOf(posted.slice(MAX)), [100], 'what came later is sent');
  assert.equal(slots.inFlight.deliveries, 0, 'their slots are free');
});

test('nothing leaves between a 410 and its commit', async () => {
  const { recordAttempt, commit } = slowCommits({ isDisabled: true });
  const { deliveries, slots, posted, released, recorded, take, come } = await busy(3, { recordAttempt });
  assert.equal(take(), true, 'one more is being claimed');
  posted[0]?.answer(answered(410));
  await settled();
  assert.deepEqual(released, [MAX + 1, MAX + 2, MAX + 3]);
  come(100);
  assert.equal(take(), false);
  for (const { answer } of posted.slice(1)) answer();
  await settled();
  assert.equal(take(), false);
  commit();
  await deliveries.stop(1000);
  assert.equal(posted.length, MAX);
  assert.deepEqual(released.at(-1), 100);
  const [gone] = recorded;
  assert.deepEqual([gone?.state, gone?.disableWebhook, gone?.pauseUntilMs], ['exhausted', true, null]);
  assert.equal(gone?.error?.code, 'WebhookGone');
  assert.equal(slots.inFlight.deliveries, 0);
  assert.equal(take(), true, 'when it is enabled again, it gets slots again');
});

test('a receiver that asks for time gets it at once', async () => {
  const { recordAttempt, commit } = slowCommits();
  const { deliveries, slots, posted, released, recorded, take, pass } = await busy(2, { recordAttempt });
  pass(500);
  posted[0]?.answer(answered(429, { retryAfterMs: 60_000 }));
  await settled();
  assert.deepEqual(released, [MAX + 1, MAX + 2]);
  posted[1]?.answer();
  await settled();
  assert.equal(take(), false);
  commit();
  await settled();
  assert.equal(take(), true, 'from then on it is the store that says when');
  for (const { answer } of posted) answer();
  await deliveries.stop(1000);
  assert.equal(posted.length, MAX);
  const { state, nextAttemptAtMs, pauseUntilMs, disableWebhook } = recorded[0] as AttemptEnd;
  assert.deepEqual([state, nextAttemptAtMs, pauseUntilMs, disableWebhook], ['retrying', 60_500, 60_500, false]);
  assert.equal(slots.inFlight.deliveries, 1);
});

test('a webhook that the store disabled gets nothing more', async () => {
  const recordAttempt = async ({ made }: AttemptEnd) => ({ ...RECORDED, isDisabled: made.status === 500 });
  const { deliveries, posted, released, take, come } = await busy(2, { recordAttempt });
  assert.equal(take(), true);
  posted[0]?.answer(answered(500));
  await settled();
  come(100);
  for (const { answer } of posted) answer();
  await deliveries.stop(1000);
  assert.deepEqual(numbersOf(posted.slice(MAX)), [MAX + 1], 'it was sent before that was known');
  assert.deepEqual(released, [MAX + 2, 100]);
});

test('successes are recorded together while more are queued', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { deliveries, posted, recorded } = await busy(4);
  for (const { answer } of posted.slice(0, 2)) answer();
  await settled();
  assert.equal(posted.length, MAX + 2, 'the next are on their way');
  assert.deepEqual(recorded, []);
  t.mock.timers.tick(3);
  await settled();
  assert.equal(recorded.length, 2);
  for (const { answer } of posted.slice(2, 4)) answer();
  await settled();
  assert.equal(recorded.length, 2);
  posted[4]?.answer();
  await settled();
  assert.equal(recorded.length, 5, 'nothing is queued any more: what is due next comes with the records');
  for (const { answer } of posted) answer();
  await deliveries.stop(1000);
});

test('a failure is recorded at once, and what was gathered with it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { deliveries, posted, recorded } = await busy(4);
  posted[0]?.answer();
  await settled();
  assert.deepEqual(recorded, []);
  posted[1]?.answer(answered(500));
  await settled();
  assert.deepEqual(recorded.map(({ state }) => state).sort(), ['delivered', 'retrying']);
  for (let n = 2; n < MAX + 4; n++) {
    posted[n]?.answer();
    await settled();
  }
  await deliveries.stop(1000);
  assert.equal(recorded.length, MAX + 4);
});

test('a stop records what is gathered', async () => {
  const { deliveries, posted, recorded, slots } = await busy(4);
  for (const { answer } of posted.slice(0, 2)) answer();
  const stopped = deliveries.stop(1000);
  for (let n = 2; n < MAX + 4; n++) {
    await settled();
    posted[n]?.answer();
  }
  await stopped;
  assert.equal(recorded.length, MAX + 4);
  assert.equal(slots.inFlight.deliveries, 0);
});

test('a webhook that was changed gets what is claimed anew', async () => {
  const { deliveries, posted, released, take, come, claim } = await busy(1);
  assert.equal(take(), true);
  deliveries.releaseClaimed('wh_1');
  come(100);
  for (const { answer } of posted) answer();
  await settled();
  assert.deepEqual(released, [MAX + 1, 100]);
  assert.equal(claim(101), true);
  assert.equal(posted.at(-1)?.delivery, 101);
  posted.at(-1)?.answer();
  await deliveries.stop(1000);
});

test('what goes back does so when storage is back', async () => {
  const { deliveries, posted, released } = await busy(2, { outages: 2 });
  deliveries.releaseClaimed('wh_1');
  for (const { answer } of posted) answer();
  await deliveries.stop(60_000);
  assert.deepEqual(released, [MAX + 1, MAX + 2]);
});

test('a failing webhook gets one at a time', async () => {
  const { deliveries, posted, claim } = create();
  for (let n = 1; n <= 3; n++) claim(n);
  for (const { answer } of posted) answer(answered(500));
  await settled();
  assert.deepEqual([claim(4), claim(5)], [true, false]);
  posted.at(-1)?.answer();
  await settled();
  assert.deepEqual([claim(6), claim(7)], [true, true], 'a success restores it');
  for (const { answer } of posted) answer();
  await deliveries.stop(1000);
});

test('an ordinary failure is retried by its schedule', async () => {
  const { deliveries, posted, recorded, claim, pass } = create({ settings: { retryDelaysMs: [7000] } });
  pass(1000);
  claim(1);
  claim(2, { tries: 1, attempt: 2, trigger: 'retry' });
  for (const { answer } of posted) answer(answered(500));
  await deliveries.stop(1000);
  const seen = recorded.map(({ state, nextAttemptAtMs, pauseUntilMs }) => ({ state, nextAttemptAtMs, pauseUntilMs }));
  assert.deepEqual(seen, [
    { state: 'retrying', nextAttemptAtMs: 8000, pauseUntilMs: null },
    { state: 'exhausted', nextAttemptAtMs: null, pauseUntilMs: null },
  ]);
  assert.equal(recorded[1]?.error?.code, 'DeliveryExhausted');
});

test('the end of a resend wakes operations', async () => {
  const { deliveries, posted, claim, woken } = create();
  claim(1);
  posted[0]?.answer();
  await settled();
  assert.deepEqual(woken, []);
  claim(2, { trigger: 'resend' });
  posted[1]?.answer();
  await deliveries.stop(1000);
  assert.deepEqual(woken, ['resends']);
});

test('a retry is not due before its time by any clock', async () => {
  const { deliveries, posted, recorded, claim } = create({ settings: { retryDelaysMs: [7000] }, unsureMs: 50 });
  claim(1);
  posted[0]?.answer(answered(500));
  await deliveries.stop(1000);
  assert.equal(recorded[0]?.nextAttemptAtMs, 7050);
});

test('an answer that arrives during the stop counts', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { deliveries, posted, recorded, released, claim } = create({ isDeaf: true });
  claim(1);
  claim(2);
  const stopped = deliveries.stop(1000);
  await settled();
  t.mock.timers.tick(1000);
  posted[0]?.answer();
  posted[1]?.answer(answered(200, { outcome: 'timeout', status: null }));
  await stopped;
  assert.deepEqual(
    recorded.map(({ delivery, state }) => [delivery.delivery, state]),
    [[1, 'delivered']],
  );
  assert.deepEqual(released, [2], 'what was cut off is sent again');
});
