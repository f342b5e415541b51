// Hundreds of dead webhooks, and the others.

import assert from 'node:assert/strict';
import test from 'node:test';
import { DeliveryLimiter } from '../../../../src/engine/deliveries/delivery-limiter.ts';
import { claimedDelivery, webhook } from '../parts.ts';

const ALL = 512;

function create() {
  let now = 0;
  const limiter = new DeliveryLimiter(() => now);
  const join = (id: string): boolean => limiter.join(id, claimedDelivery(1)) === 'send';
  const enter = (id: string): boolean => limiter.take(id, webhook()) && join(id);
  /** By the claim that goes round. */
  const enterForClaim = (id: string): boolean => limiter.take(id, webhook(), true) && join(id);
  const comes = (id: string, isDelivered: boolean, tookMs: number): void => {
    limiter.came(id, { tookMs, isDelivered });
    limiter.done(id);
  };
  const attempt = (id: string, isDelivered: boolean, tookMs = 5): void => {
    assert.ok(enter(id));
    comes(id, isDelivered, tookMs);
  };
  /** How many of so many webhooks get a slot. */
  const entered = (prefix: string, count: number): number =>
    Array.from({ length: count }, (_, n) => enter(`${prefix}${n}`)).filter(Boolean).length;
  return { limiter, enter, enterForClaim, comes, attempt, entered, pass: (ms: number) => (now += ms) };
}

test('those that fail share half of the slots', () => {
  const { attempt, entered, enter, enterForClaim, comes } = create();
  for (let n = 0; n < 600; n++) for (let i = 0; i < 3; i++) attempt(`dead${n}`, false);
  assert.equal(entered('dead', 600), ALL / 2);
  assert.equal(enter('new'), true, 'who is not known yet is not among them');
  comes('dead0', false, 15_000);
  assert.equal(enterForClaim('dead599'), true, 'one that is free is for another of them');
});

test('a slot of their share is wanted, another not', () => {
  const { limiter, attempt, entered, enterForClaim, comes } = create();
  for (let n = 0; n < 300; n++) for (let i = 0; i < 3; i++) attempt(`dead${n}`, false);
  limiter.beginClaim();
  entered('dead', 300);
  attempt('well', true);
  assert.equal(limiter.isWanted('well'), false);
  comes('dead0', false, 15_000);
  assert.equal(limiter.isWanted('dead0'), true);
  assert.equal(enterForClaim('dead299'), true);
  assert.equal(limiter.isWanted('dead0'), false);
});

test('whoever frees a slot leaves it to those who wait', () => {
  const { limiter, attempt, entered, enter, enterForClaim, comes } = create();
  for (let n = 0; n < 300; n++) for (let i = 0; i < 3; i++) attempt(`dead${n}`, false);
  attempt('well', true);
  limiter.beginClaim();
  assert.equal(entered('dead', 300), ALL / 2);
  limiter.endClaim();
  for (let n = 0; n < 10; n++) comes(`dead${n}`, false, 15_000);
  assert.equal(enter('dead0'), false, 'also where many are freed at once');
  assert.equal(enter('well'), true, 'a slot that is of no use to them is for anybody');
  limiter.beginClaim();
  assert.equal(enter('dead0'), false, 'the claim has not come to them yet');
  for (let n = 290; n < 299; n++) assert.equal(enterForClaim(`dead${n}`), true);
  limiter.endClaim();
  assert.equal(enter('dead0'), false, 'one asked out of turn, and waits as well');
  limiter.beginClaim();
  limiter.endClaim();
  assert.equal(enter('dead0'), true, 'nobody waits any more');
});

test('slots are for all while nobody waits', () => {
  const { limiter, attempt, entered } = create();
  for (let n = 0; n < 600; n++) attempt(`well${n}`, true, 200);
  limiter.beginClaim();
  limiter.endClaim();
  assert.equal(entered('well', 600), ALL);
});

test('those that are slow count among them', () => {
  const { attempt, entered } = create();
  for (let n = 0; n < 300; n++) attempt(`slow${n}`, true, 15_000);
  assert.equal(entered('slow', 300), ALL / 2);
});

test('those that answer always find a slot', () => {
  const { attempt, entered } = create();
  for (let n = 0; n < 600; n++) attempt(`well${n}`, true, 200);
  const unknown = entered('new', 600);
  assert.ok(unknown > ALL / 2 && unknown < ALL, `${unknown}`);
  assert.equal(unknown + entered('well', 600), ALL);
});

test('those that hang while they hold all leave room', () => {
  const { limiter, attempt, entered, enter, pass } = create();
  for (let n = 0; n < 600; n++) attempt(`well${n}`, true, 200);
  assert.equal(entered('well', 600), ALL);
  assert.equal(enter('well599'), false);
  pass(1001);
  limiter.releaseStale();
  assert.equal(enter('well599'), true);
  assert.equal(enter('well0'), false, 'but not for those that hang');
  assert.ok(entered('well', 600) > 0);
  for (let round = 0; round < 20; round++) {
    pass(1001);
    limiter.releaseStale();
    entered(`other${round}-`, 600);
  }
  assert.ok(limiter.slotsTaken <= 2 * ALL, `${limiter.slotsTaken}`);
});

test('those that hang keep no slot from new ones', () => {
  const { limiter, attempt, entered, pass } = create();
  const aSecondLater = (): void => {
    pass(1001);
    limiter.releaseStale();
    limiter.beginClaim();
    limiter.endClaim();
  };
  for (let n = 0; n < 600; n++) attempt(`well${n}`, true, 200);
  assert.equal(entered('dead', 600), (ALL * 3) / 4);
  assert.equal(entered('new', 600), 0);
  aSecondLater();
  assert.equal(entered('new', 600), ALL / 4, 'as many as if those that hang had their share and no more');
  for (let round = 0; round < 8; round++) {
    aSecondLater();
    entered(`other${round}-`, 600);
  }
  assert.ok(limiter.slotsTaken < 2 * ALL, `${limiter.slotsTaken}`);
  assert.equal(entered('well', 600), ALL / 4);
});

test('all slots are free when all is over', () => {
  const { limiter, enter, comes, pass } = create();
  for (let n = 0; n < 40; n++) for (let i = 0; i < 8; i++) assert.ok(enter(`wh${n}`));
  pass(2000);
  limiter.releaseStale();
  for (let n = 0; n < 40; n++) for (let i = 0; i < 8; i++) comes(`wh${n}`, i % 2 === 0, i * 500);
  assert.equal(limiter.slotsTaken, 0);
});

test('what is known of webhooks is bounded', () => {
  const { limiter, attempt, enter, entered } = create();
  for (let i = 0; i < 3; i++) attempt('dead', false);
  for (let n = 0; n < 30_000; n++) attempt(`wh${n}`, true);
  assert.equal(enter('dead'), true);
  assert.equal(enter('dead'), false, 'that one fails is known for longest');
  assert.equal(limiter.slotsTaken, 1);
  assert.ok(entered('wh', 600) >= ALL / 2);
});
