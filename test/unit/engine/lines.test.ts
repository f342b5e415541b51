// How many deliveries of a webhook are held and sent at a time, and who waits.

import assert from 'node:assert/strict';
import test from 'node:test';
import { MAIL } from '../../../src/domain/delivery/delivery.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { WebhookSettings } from '../../../src/domain/resource.ts';
import { type Joined, Lines } from '../../../src/engine/deliveries/delivery-limiter.ts';
import { claimedDelivery, webhook } from './parts.ts';

const MAX = LIMITS.inFlightPerWebhook;

/** Lines of one webhook `wh_1`, and a clock that is set. */
function create(settings: Partial<WebhookSettings> = {}) {
  let now = 5000;
  let known = webhook(settings);
  const lines = new Lines(() => now);
  const take = (): boolean => lines.take('wh_1', known);
  /** Claimed and joined; undefined: no hand was free. */
  const enter = (delivery: number): Joined | undefined =>
    take() ? lines.join('wh_1', claimedDelivery(delivery)) : undefined;
  /** How many hands are free. */
  const room = (): number => {
    let taken = 0;
    while (take()) taken++;
    for (let n = 0; n < taken; n++) lines.drop('wh_1');
    return taken;
  };
  /** One that is on its way comes back. */
  const comes = (isDelivered: boolean | null, tookMs = 5): number | undefined => {
    lines.came('wh_1', { tookMs, isDelivered });
    lines.stale('wh_1');
    return lines.done('wh_1')?.delivery;
  };
  const attempt = (isDelivered: boolean | null, tookMs = 5): void => {
    assert.equal(enter(0), 'send');
    comes(isDelivered, tookMs);
  };
  const change = (changed: Partial<WebhookSettings>, url = known.url): void => {
    known = webhook({ ...known.settings, ...changed }, { url });
  };
  return { lines, take, enter, room, comes, attempt, change, pass: (ms: number) => (now += ms) };
}

const numbers = (deliveries: readonly { delivery: number }[]) => deliveries.map(({ delivery }) => delivery);

test('no more than eight are sent at once', () => {
  const { enter, lines } = create();
  for (let n = 0; n < MAX; n++) assert.equal(enter(n), 'send');
  assert.equal(enter(100), undefined);
  assert.equal(lines.take('wh_2', webhook()), true, 'each webhook has its own line');
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
  assert.equal(room(), MAX + 32);
  attempt(true, 15_000);
  assert.equal(room(), MAX);
});

test('few in flight have few claimed ahead', () => {
  const { room, attempt } = create({ maxInFlight: 1 });
  attempt(true);
  assert.equal(room(), 5);
});

test('a failure ends claiming ahead', () => {
  const { room, attempt } = create();
  attempt(true);
  attempt(false);
  assert.equal(room(), MAX);
  attempt(true);
  assert.equal(room(), MAX + 32);
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

test('three failures in a row leave one hand', () => {
  const { attempt, room, enter } = create();
  attempt(false);
  attempt(false);
  assert.equal(room(), MAX);
  attempt(false);
  assert.equal(room(), 1);
  assert.equal(enter(1), 'send');
  assert.equal(room(), 0);
});

test('a success restores all hands', () => {
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

test('who stands in line leaves it when the webhook fails', () => {
  const { attempt, enter, lines } = create();
  attempt(true);
  for (let n = 1; n <= MAX + 2; n++) enter(n);
  for (let n = 0; n < 3; n++) lines.came('wh_1', { tookMs: 5, isDelivered: false });
  assert.deepEqual(numbers(lines.stale('wh_1')), [MAX + 1, MAX + 2]);
  assert.equal(lines.done('wh_1'), undefined);
  assert.equal(lines.held, MAX - 1);
});

test('what is claimed when the webhook fails goes back', () => {
  const { enter, take, lines } = create();
  for (let n = 0; n < MAX - 1; n++) enter(n);
  assert.equal(take(), true);
  for (let n = 0; n < 3; n++) lines.came('wh_1', { tookMs: 5, isDelivered: false });
  assert.equal(lines.join('wh_1', claimedDelivery(100)), 'back');
  assert.equal(lines.held, MAX - 1, 'its hand is free');
});

test('a stopped line sends nothing that was claimed', () => {
  const { attempt, enter, take, room, lines } = create();
  attempt(true);
  for (let n = 1; n <= MAX + 1; n++) enter(n);
  assert.equal(take(), true);
  assert.deepEqual(numbers(lines.stop('wh_1')), [MAX + 1]);
  assert.equal(room(), 0);
  lines.resume('wh_1');
  assert.equal(room(), 0, 'one is still being claimed');
  assert.equal(lines.join('wh_1', claimedDelivery(100)), 'back');
  assert.ok(room() > 0);
  assert.equal(lines.held, MAX);
});

test('a line is stopped as long as anybody stops it', () => {
  const { room, lines } = create();
  lines.stop('wh_1');
  lines.stop('wh_1');
  lines.resume('wh_1');
  assert.equal(room(), 0);
  lines.resume('wh_1');
  assert.equal(room(), MAX);
});

test('a claim that came to nothing opens a stopped line', () => {
  const { take, room, lines } = create();
  take();
  lines.stop('wh_1');
  lines.resume('wh_1');
  lines.drop('wh_1');
  assert.equal(room(), MAX);
});

test('whoever stands in line for too long leaves it unsent', () => {
  const { attempt, enter, pass, lines } = create();
  attempt(true);
  for (let n = 1; n <= MAX + 1; n++) enter(n);
  pass(600);
  enter(100);
  pass(400);
  assert.deepEqual(lines.stale('wh_1'), [], 'a second is not too long');
  pass(1);
  assert.deepEqual(numbers(lines.stale('wh_1')), [MAX + 1]);
  assert.deepEqual(lines.stale('wh_1'), []);
  assert.equal(lines.done('wh_1')?.delivery, 100);
});

test('nobody waits before a webhook that hangs', () => {
  const { attempt, enter, pass, lines, room } = create();
  attempt(true);
  for (let n = 1; n <= MAX + 2; n++) enter(n);
  assert.deepEqual(lines.sweep(), []);
  pass(1001);
  assert.deepEqual(numbers(lines.sweep()), [MAX + 1, MAX + 2]);
  assert.equal(lines.held, MAX);
  assert.equal(room(), 0, 'and nothing is claimed ahead for it');
});

test('a hand is wanted by whoever was refused it', () => {
  const { enter, comes, lines } = create({ maxInFlight: 2 });
  const other = webhook({}, { id: 'wh_2' });
  const otherComes = (): void => {
    lines.take('wh_2', other);
    lines.join('wh_2', claimedDelivery(2));
    lines.came('wh_2', { tookMs: 5, isDelivered: true });
    lines.done('wh_2');
  };
  enter(1);
  enter(2);
  lines.beginTurn();
  assert.equal(lines.hasRefused, false);
  enter(3);
  assert.equal(lines.hasRefused, true);
  otherComes();
  assert.equal(lines.isWanted('wh_2'), false, 'a hand of another webhook is of no use');
  comes(true, 200);
  assert.equal(lines.isWanted('wh_1'), true);
  lines.beginTurn();
  assert.equal(lines.isWanted('wh_1'), false, 'what is due is asked for anew');
});

test('a hand that a failing webhook may not use is not wanted', () => {
  const { enter, comes, lines } = create();
  for (let n = 0; n < MAX; n++) enter(n);
  enter(100);
  for (let n = 0; n < 3; n++) comes(false);
  assert.equal(lines.isWanted('wh_1'), false);
  for (let n = 3; n < MAX; n++) comes(false);
  assert.equal(lines.isWanted('wh_1'), true);
});

test('mails have few hands and none ahead', () => {
  const lines = new Lines();
  const room = (): number => {
    let taken = 0;
    while (lines.take(MAIL, null)) taken++;
    return taken;
  };
  assert.equal(lines.take(MAIL, null), true);
  assert.equal(lines.join(MAIL, claimedDelivery(1)), 'send');
  lines.came(MAIL, { tookMs: 1, isDelivered: true });
  lines.done(MAIL);
  assert.ok(room() < MAX);
});
