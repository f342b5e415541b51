// When the loop of deliveries looks for what is due; and tests of webhooks, which it does not know.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Store } from '../../../../src/store/contract/store.ts';
import { answered, claimedDelivery, NOTHING, webhook } from '../parts.ts';
import { busy, create, MAX, settled } from './sending.ts';

/** Timers that fire only when told to; `ticked` when the first tick is over. */
function heldTimers(t: TestContext) {
  const waits: number[] = [];
  const ticked = Promise.withResolvers<void>();
  t.mock.method(globalThis, 'setTimeout', (fire: () => void, waitMs: number) => {
    if (waits.push(waitMs) === 1) setImmediate(fire);
    else ticked.resolve();
  });
  return { waits, ticked: ticked.promise };
}

test('the loop sleeps until the rate allows one more', async (t) => {
  const { waits, ticked } = heldTimers(t);
  let asked = 0;
  const settings = { rateLimit: { limit: 1, intervalMs: 400 } };
  const claimDeliveries: Store['claimDeliveries'] = async (_limit, admission) => {
    asked++;
    assert.equal(admission.takeDelivery('wh_1', webhook(settings)), false);
    return { ...NOTHING, deliveriesWaiting: true, nextDueAtMs: 5000 };
  };
  const { deliveries, claim, posted, pass } = create({ settings, claimDeliveries });
  claim(1);
  pass(150);
  deliveries.start();
  await ticked;
  posted[0]?.answer();
  await deliveries.stop(1000);
  assert.deepEqual(waits.slice(0, 2), [0, 250]);
  assert.equal(asked, 1);
});

test('what waits for a dead webhook is not looked at in vain', async (t) => {
  const { waits, ticked } = heldTimers(t);
  const dead = webhook({}, { id: 'wh_dead' });
  const claimDeliveries: Store['claimDeliveries'] = async (_limit, admission) => {
    assert.equal(admission.takeDelivery('wh_dead', dead), false);
    return { ...NOTHING, deliveriesWaiting: true, nextDueAtMs: null };
  };
  const { deliveries, claim, posted, slots } = create({ claimDeliveries });
  const deadOnes = Array.from({ length: MAX }, (_, n) => claimedDelivery(n, { webhook: dead }));
  for (const one of deadOnes) {
    slots.takeDelivery('wh_dead', dead);
    deliveries.attempt(one);
  }
  const answers = posted.splice(0);
  deliveries.start();
  await ticked;
  for (let n = 100; n < 100 + MAX; n++) claim(n);
  for (const { answer } of posted) answer();
  await settled();
  assert.deepEqual(waits, [0, 1000], 'slots of others are of no use to it');
  answers[0]?.answer();
  await settled();
  assert.deepEqual(waits, [0, 1000, 0], 'one of its own is');
  for (const { answer } of [...answers, ...posted]) answer();
  await deliveries.stop(1000);
});

test('a test waits for nobody and takes no hand', async () => {
  const { deliveries, posted, slots, recorded } = await busy(1);
  const probed = deliveries.probe(claimedDelivery(0, { trigger: 'test' }));
  assert.equal(posted.length, MAX + 1);
  posted.at(-1)?.answer(answered(404));
  assert.equal((await probed)?.attempt.status, 404);
  assert.equal(slots.inFlight.deliveries, MAX + 1);
  assert.deepEqual(recorded, []);
  for (const { answer } of posted) answer();
  await settled();
  for (const { answer } of posted) answer();
  await deliveries.stop(1000);
});

test('stopping cuts a test off', async () => {
  const { deliveries, posted } = create();
  const probed = deliveries.probe(claimedDelivery(0, { trigger: 'test' }));
  await deliveries.stop(0);
  assert.equal(posted.length, 1);
  assert.equal(await probed, undefined);
  assert.equal(await deliveries.probe(claimedDelivery(0)), undefined, 'and none begins');
});
