// How many deliveries of a webhook are held and sent at a time, and who waits.

import assert from 'node:assert/strict';
import test from 'node:test';
import { MAIL } from '../../../../src/domain/delivery/delivery.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { WebhookSettings } from '../../../../src/domain/resource.ts';
import { DeliveryLimiter, type Joined } from '../../../../src/engine/deliveries/delivery-limiter.ts';
import { claimedDelivery, webhook } from '../parts.ts';

const MAX = LIMITS.inFlightPerWebhook;

/** DeliveryLimiter of one webhook `wh_1`, and a clock that is set. */
function create(settings: Partial<WebhookSettings> = {}) {
  let now = 5000;
  let known = webhook(settings);
  const limiter = new DeliveryLimiter(() => now);
  const take = (): boolean => limiter.take('wh_1', known);
  /** Claimed and joined; undefined: no slot was free. */
  const enter = (delivery: number): Joined | undefined =>
    take() ? limiter.join('wh_1', claimedDelivery(delivery)) : undefined;
  /** How many slots are free. */
  const room = (): number => {
    let taken = 0;
    while (take()) taken++;
    for (let n = 0; n < taken; n++) limiter.drop('wh_1');
    return taken;
  };
  /** One that is on its way comes back. */
  const comes = (isDelivered: boolean | null, tookMs = 5): number | undefined => {
    limiter.came('wh_1', { tookMs, isDelivered });
    limiter.stale('wh_1');
    return limiter.done('wh_1')?.delivery;
  };
  const attempt = (isDelivered: boolean | null, tookMs = 5): void => {
    assert.equal(enter(0), 'send');
    comes(isDelivered, tookMs);
  };
  const change = (changed: Partial<WebhookSettings>, url = known.url): void => {
    known = webhook({ ...known.settings, ...changed }, { url });
  };
  return { limiter, take, enter, room, comes, attempt, change, pass: (ms: number) => (now += ms) };
}

const numbers = (deliveries: readonly { delivery: number }[]) => deliveries.map(({ delivery }) => delivery);

test('no more than eight are sent at once', () => {
  const { enter, limiter } = create();
  for (let n = 0; n < MAX; n++) assert.equal(enter(n), 'send');
  assert.equal(enter(100), undefined);
  assert.equal(limiter.take('wh_2', webhook()), true, 'each webhook has its own state');
});

test('its own setting says how many', () => {
  assert.equal(create({ maxInFlight: 20 }).room(), 20);
  assert.equal(create({ maxInFlight: 1 }).room(), 1);
  assert.equal(create({ maxInFlight: LIMITS.maxInFlightPerWebhook }).room(), LIMITS.maxInFlightPerWebhook);
});

test('a changed setting holds from the next claim', () => {
  const { room, change } = create();
  assert.equal(room(), MAX);
  change({ maxInFlight: 2 });
  assert.equal(room(), 2);
});

test('a fast webhook is claimed ahead for, a slow one not', () => {
  const { room, attempt } = create();
  assert.equal(room(), MAX, 'nothing is known yet');
  attempt(true, 3);
  assert.equal(room(), MAX + 56);
  attempt(true, 150);
  assert.equal(room(), MAX + 32);
  attempt(true, 15_000);
  assert.equal(room(), MAX);
});

test('few in flight have few claimed ahead', () => {
  const { room, attempt } = create({ maxInFlight: 1 });
  attempt(true);
  assert.equal(room(), 8);
});

test('a failure ends claiming ahead', () => {
  const { room, attempt } = create();
  attempt(true);
  attempt(false);
  assert.equal(room(), MAX);
  attempt(true);
  assert.equal(room(), MAX + 56);
});

test('what comes back calls the next, in order', () => {
  const { attempt, enter, comes } = create();
  attempt(true);
  for (let n = 1; n <= MAX; n++) assert.equal(enter(n), 'send');
  assert.equal(enter(100), 'wait');
  assert.equal(enter(101), 'wait');
  assert.equal(comes(true), 100);
  assert.equal(comes(true), 101);
  assert.equal(comes(true), undefined);
  assert.equal(enter(102), 'send', 'a place is free again');
  assert.equal(enter(103), 'wait');
});

test('an ordered webhook gets one at a time', () => {
  const { attempt, room, enter } = create({ ordered: true, maxInFlight: 8 });
  assert.equal(room(), 1);
  attempt(true);
  assert.equal(room(), 1, 'none ahead');
  enter(1);
  assert.equal(room(), 0);
});

test('three failures in a row leave one slot', () => {
  const { attempt, room, enter } = create();
  attempt(false);
  attempt(false);
  assert.equal(room(), MAX);
  attempt(false);
  assert.equal(room(), 1);
  assert.equal(enter(1), 'send');
  assert.equal(room(), 0);
});

test('a success restores all slots', () => {
  const { attempt, room } = create();
  for (let n = 0; n < 5; n++) attempt(false, 200);
  assert.equal(room(), 1);
  attempt(true, 200);
  assert.equal(room(), MAX);
});

test('being put off is neither success nor failure', () => {
  const { attempt, room } = create();
  attempt(false);
  attempt(false);
  attempt(null);
  assert.equal(room(), MAX);
  attempt(false);
  assert.equal(room(), 1);
  attempt(null);
  assert.equal(room(), 1);
});

test('another address begins anew', () => {
  const { attempt, room, change } = create();
  for (let n = 0; n < 3; n++) attempt(false);
  change({}, 'https://example.com/other');
  assert.equal(room(), MAX);
});

test('what is queued goes back when the webhook fails', () => {
  const { attempt, enter, limiter } = create();
  attempt(true);
  for (let n = 1; n <= MAX + 2; n++) enter(n);
  for (let n = 0; n < 3; n++) limiter.came('wh_1', { tookMs: 5, isDelivered: false });
  assert.deepEqual(numbers(limiter.stale('wh_1')), [MAX + 1, MAX + 2]);
  assert.equal(limiter.done('wh_1'), undefined);
  assert.equal(limiter.slotsTaken, MAX - 1);
});

test('what is claimed when the webhook fails goes back', () => {
  const { enter, take, limiter } = create();
  for (let n = 0; n < MAX - 1; n++) enter(n);
  assert.equal(take(), true);
  for (let n = 0; n < 3; n++) limiter.came('wh_1', { tookMs: 5, isDelivered: false });
  assert.equal(limiter.join('wh_1', claimedDelivery(100)), 'back');
  assert.equal(limiter.slotsTaken, MAX - 1, 'its slot is free');
});

test('a stopped line sends nothing that was claimed', () => {
  const { attempt, enter, take, room, limiter } = create();
  attempt(true);
  for (let n = 1; n <= MAX + 1; n++) enter(n);
  assert.equal(take(), true);
  assert.deepEqual(numbers(limiter.stop('wh_1')), [MAX + 1]);
  assert.equal(room(), 0);
  limiter.resume('wh_1');
  assert.equal(room(), 0, 'one is still being claimed');
  assert.equal(limiter.join('wh_1', claimedDelivery(100)), 'back');
  assert.ok(room() > 0);
  assert.equal(limiter.slotsTaken, MAX);
});

test('a webhook is stopped as long as anything stops it', () => {
  const { room, limiter } = create();
  limiter.stop('wh_1');
  limiter.stop('wh_1');
  limiter.resume('wh_1');
  assert.equal(room(), 0);
  limiter.resume('wh_1');
  assert.equal(room(), MAX);
});

test('a claim that came to nothing opens a stopped line', () => {
  const { take, room, limiter } = create();
  take();
  limiter.stop('wh_1');
  limiter.resume('wh_1');
  limiter.drop('wh_1');
  assert.equal(room(), MAX);
});

test('what is queued for too long goes back unsent', () => {
  const { attempt, enter, pass, limiter } = create();
  attempt(true);
  for (let n = 1; n <= MAX + 1; n++) enter(n);
  pass(600);
  enter(100);
  pass(400);
  assert.deepEqual(limiter.stale('wh_1'), [], 'a second is not too long');
  pass(1);
  assert.deepEqual(numbers(limiter.stale('wh_1')), [MAX + 1]);
  assert.deepEqual(limiter.stale('wh_1'), []);
  assert.equal(limiter.done('wh_1')?.delivery, 100);
});

test('nobody waits before a webhook that hangs', () => {
  const { attempt, enter, pass, limiter, room } = create();
  attempt(true);
  for (let n = 1; n <= MAX + 2; n++) enter(n);
  assert.deepEqual(limiter.releaseStale(), []);
  pass(1001);
  assert.deepEqual(numbers(limiter.releaseStale()), [MAX + 1, MAX + 2]);
  assert.equal(limiter.slotsTaken, MAX);
  assert.equal(room(), 0, 'and nothing is claimed ahead for it');
});

test('a slot is wanted by whoever was refused it', () => {
  const { enter, comes, limiter } = create({ maxInFlight: 2 });
  const other = webhook({}, { id: 'wh_2' });
  const otherComes = (): void => {
    limiter.take('wh_2', other);
    limiter.join('wh_2', claimedDelivery(2));
    limiter.came('wh_2', { tookMs: 5, isDelivered: true });
    limiter.done('wh_2');
  };
  enter(1);
  enter(2);
  limiter.beginClaim();
  assert.equal(limiter.hasRefused, false);
  enter(3);
  assert.equal(limiter.hasRefused, true);
  otherComes();
  assert.equal(limiter.isWanted('wh_2'), false, 'a slot of another webhook is of no use');
  comes(true, 200);
  assert.equal(limiter.isWanted('wh_1'), true);
  limiter.beginClaim();
  assert.equal(limiter.isWanted('wh_1'), false, 'what is due is asked for anew');
});

test('a slot that a failing webhook may not use is not wanted', () => {
  const { enter, comes, limiter } = create();
  for (let n = 0; n < MAX; n++) enter(n);
  enter(100);
  for (let n = 0; n < 3; n++) comes(false);
  assert.equal(limiter.isWanted('wh_1'), false);
  for (let n = 3; n < MAX; n++) comes(false);
  assert.equal(limiter.isWanted('wh_1'), true);
});

test('mails have few slots and none ahead', () => {
  const limiter = new DeliveryLimiter();
  const room = (): number => {
    let taken = 0;
    while (limiter.take(MAIL, null)) taken++;
    return taken;
  };
  assert.equal(limiter.take(MAIL, null), true);
  assert.equal(limiter.join(MAIL, claimedDelivery(1)), 'send');
  limiter.came(MAIL, { tookMs: 1, isDelivered: true });
  limiter.done(MAIL);
  assert.ok(room() < MAX);
});
