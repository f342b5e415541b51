// What stands in line for a webhook while the others are on their way.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Attempt, ClaimedDelivery } from '../../../src/domain/delivery.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { Deliveries } from '../../../src/engine/deliveries.ts';
import { Lines } from '../../../src/engine/lines.ts';
import { Slots } from '../../../src/engine/slots.ts';
import type { AttemptEnd, Store } from '../../../src/store/store.ts';
import { createLog, emission, NOTHING, random } from './parts.ts';

const MADE: Attempt = {
  startedAtMs: 0,
  tookMs: 5,
  timing: { dnsMs: null, connectMs: null, firstByteMs: null },
  outcome: 'answered',
  status: 200,
  responseHeaders: {},
  responseBody: '',
  detail: '',
  permanent: false,
};
const MAX = LIMITS.inFlightPerWebhook;

function claimed(delivery: number): ClaimedDelivery {
  return {
    delivery,
    fence: 1,
    kind: 'webhook',
    emission: { ...emission, entry: delivery, emitId: `e${delivery}`, traceId: `e${delivery}` },
    subscriptionId: 'sub_1',
    via: 'subscription',
    webhook: { id: 'wh_1' } as ClaimedDelivery['webhook'],
    mailTo: null,
    attempt: 1,
    trigger: 'event',
  };
}

function create() {
  let now = 0;
  const recorded: number[] = [];
  const released: number[] = [];
  const posted: { delivery: number; answer: () => void }[] = [];
  const lines = new Lines(() => now);
  const slots = new Slots(lines, { runs: true, deliveries: true });
  slots.open();
  const store: Partial<Store> = {
    recordAttempt: async ({ delivery }: AttemptEnd) => {
      recorded.push(delivery.delivery);
      return { held: true, claims: NOTHING, errorEntry: null };
    },
    releaseDeliveries: async (leases) => void released.push(...leases.map(({ delivery }) => delivery)),
  };
  const inc = { inc: () => undefined, observe: () => undefined };
  const deliveries = new Deliveries({
    store: store as Store,
    slots,
    lines,
    dispatch: { take: () => undefined } as never,
    post: ({ delivery }) => new Promise((resolve) => posted.push({ delivery, answer: () => resolve(MADE) })),
    mail: () => Promise.reject(new Error('no mails here')),
    metrics: { attempts: inc, attemptSeconds: inc } as never,
    clock: { nowMs: () => now },
    random,
    log: createLog().log,
  });
  /** As the store would: only what the slots take. */
  const claim = (delivery: number): void => {
    if (slots.takeDelivery('wh_1')) deliveries.attempt(claimed(delivery));
  };
  const pass = (ms: number): void => {
    now += ms;
  };
  return { deliveries, slots, recorded, released, posted, claim, pass };
}

/** Makes the webhook known as fast, then sends as much as may be on its way, and more that stands in line. */
async function busy(inLine: number) {
  const made = create();
  made.claim(0);
  made.posted.shift()?.answer();
  await made.deliveries.stop(0);
  for (let n = 1; n <= MAX + inLine; n++) made.claim(n);
  assert.equal(made.posted.length, MAX);
  assert.equal(made.slots.inFlight.deliveries, MAX + inLine);
  return made;
}

test('who stands in line is sent in turn', async () => {
  const { deliveries, slots, posted, released, recorded, pass } = await busy(2);
  pass(1000);
  for (let n = 0; n < MAX + 2; n++) {
    posted[n]?.answer();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await deliveries.stop(1000);
  assert.deepEqual(
    posted.map(({ delivery }) => delivery),
    Array.from({ length: MAX + 2 }, (_, n) => n + 1),
  );
  assert.deepEqual(released, []);
  assert.equal(recorded.length, MAX + 3);
  assert.equal(slots.inFlight.deliveries, 0);
});

test('who has stood in line for too long goes back unsent', async () => {
  const { deliveries, slots, posted, released, pass, claim } = await busy(3);
  pass(1001);
  claim(100);
  for (const { answer } of posted) answer();
  await new Promise((resolve) => setImmediate(resolve));
  for (const { answer } of posted) answer();
  await deliveries.stop(1000);
  assert.deepEqual(released, [MAX + 1, MAX + 2, MAX + 3]);
  assert.deepEqual(
    posted.slice(MAX).map(({ delivery }) => delivery),
    [100],
    'what came later is sent',
  );
  assert.equal(slots.inFlight.deliveries, 0, 'their hands are free');
});
