import assert from 'node:assert/strict';
import test from 'node:test';
import { Slots } from '../../../../src/engine/capacity/slots.ts';
import { DeliveryLimiter } from '../../../../src/engine/deliveries/delivery-limiter.ts';
import { runnable, webhook } from '../parts.ts';

function opened(roles: { runs: boolean; deliveries: boolean }): Slots {
  const slots = new Slots(new DeliveryLimiter(), roles);
  slots.open();
  return slots;
}

test('slots take what the process is for', () => {
  for (const runs of [true, false]) {
    for (const deliveries of [true, false]) {
      const slots = opened({ runs, deliveries });
      assert.equal(slots.takeRun(runnable), runs);
      assert.equal(slots.takeDelivery('wh_1', webhook()), deliveries);
      assert.deepEqual(slots.inFlight, { runs: Number(runs), deliveries: Number(deliveries) });
    }
  }
});

test('nothing is taken before opening and after closing', () => {
  const slots = new Slots(new DeliveryLimiter(), { runs: true, deliveries: true });
  const taken = (): boolean[] => [
    slots.takeRun(runnable),
    slots.takeDelivery('wh_1', webhook()),
    slots.forClaims.takeDelivery('wh_1', webhook()),
  ];
  assert.deepEqual(taken(), [false, false, false]);
  slots.open();
  assert.deepEqual(taken(), [true, true, true]);
  slots.close();
  assert.deepEqual(taken(), [false, false, false]);
  assert.deepEqual(slots.inFlight, { runs: 1, deliveries: 2 });
  slots.forClaims.dropDelivery('wh_1');
  assert.equal(slots.inFlight.deliveries, 1);
});

test('a workflow takes no more slots than it may', () => {
  const slots = opened({ runs: true, deliveries: true });
  const single = { ...runnable, settings: { ...runnable.settings, concurrency: 1 } };
  assert.equal(slots.takeRun(single), true);
  assert.equal(slots.takeRun(single), false);
  assert.equal(slots.takeRun({ ...single, id: 'p_2' }), true);
  slots.dropRun(single.id);
  assert.equal(slots.takeRun(single), true);
});

test('an owner leaves as many slots free as it takes', () => {
  const slots = opened({ runs: true, deliveries: true });
  const settings = { ...runnable.settings, concurrency: 1000 };
  const of = (ownerId: string, n: number) => ({ ...runnable, id: `p_${ownerId}_${n}`, ownerId, settings });
  const takeAll = (ownerId: string): number => {
    let taken = 0;
    while (slots.takeRun(of(ownerId, taken % 10))) taken++;
    return taken;
  };
  assert.equal(takeAll('a'), 2000);
  assert.equal(takeAll('b'), 1000);
  for (const owner of ['c', 'd', 'e', 'f']) assert.ok(takeAll(owner) > 0, owner);
  assert.equal(takeAll('a'), 0, 'it holds more than is free');
  for (let n = 0; n < 2000; n++) slots.dropRun(`p_a_${n % 10}`);
  assert.ok(takeAll('a') > 0);
});

test('what an owner gives back it may take again', () => {
  const slots = opened({ runs: true, deliveries: true });
  const many = { ...runnable, settings: { ...runnable.settings, concurrency: 4000 } };
  for (let round = 0; round < 3; round++) {
    let taken = 0;
    while (slots.takeRun(many)) taken++;
    assert.equal(taken, 2000, `round ${round}`);
    for (; taken > 0; taken--) slots.dropRun(many.id);
    assert.equal(slots.inFlight.runs, 0);
  }
});
