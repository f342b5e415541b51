import assert from 'node:assert/strict';
import test from 'node:test';
import { type ClaimedDelivery, MAIL } from '../../../src/domain/delivery.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { Lines } from '../../../src/engine/lines.ts';

const claimed = (delivery: number) => ({ delivery }) as ClaimedDelivery;
const MAX = LIMITS.inFlightPerWebhook;

/** A webhook with as many requests on their way as it may have. */
function busy(): Lines {
  const lines = new Lines();
  for (let n = 0; n < MAX; n++) assert.equal(lines.join('wh_a', claimed(n)), true);
  return lines;
}

test('no more than eight are sent at once', () => {
  const lines = busy();
  assert.equal(lines.join('wh_a', claimed(100)), false);
  assert.equal(lines.join('wh_b', claimed(101)), true, 'each webhook has its own line');
});

test('what comes back calls the next, in order', () => {
  const lines = busy();
  lines.join('wh_a', claimed(100));
  lines.join('wh_a', claimed(101));
  assert.equal(lines.done('wh_a', 5)?.delivery, 100);
  assert.equal(lines.done('wh_a', 5)?.delivery, 101);
  assert.equal(lines.done('wh_a', 5), undefined);
  assert.equal(lines.join('wh_a', claimed(102)), true, 'a place is free again');
  assert.equal(lines.join('wh_a', claimed(103)), false);
});

test('nothing is claimed ahead for an unknown webhook', () => {
  assert.equal(new Lines().limit('wh_a'), MAX);
});

test('a fast webhook is claimed ahead for, a slow one not', () => {
  const lines = busy();
  lines.done('wh_a', 3);
  assert.ok(lines.limit('wh_a') > MAX);
  lines.join('wh_a', claimed(1));
  lines.done('wh_a', 15_000);
  assert.equal(lines.limit('wh_a'), MAX);
});

test('what was never sent says nothing of speed', () => {
  const lines = busy();
  lines.done('wh_a', null);
  assert.equal(lines.limit('wh_a'), MAX);
});

test('leaving empties the line alone', () => {
  const lines = busy();
  lines.join('wh_a', claimed(100));
  assert.deepEqual(
    lines.leave('wh_a').map((d) => d.delivery),
    [100],
  );
  assert.deepEqual(lines.leave('wh_a'), []);
  assert.equal(lines.done('wh_a', 5), undefined);
});

test('whoever stands in line for too long leaves it unsent', () => {
  let now = 5000;
  const lines = new Lines(() => now);
  for (let n = 0; n < MAX; n++) lines.join('wh_a', claimed(n));
  lines.join('wh_a', claimed(100));
  lines.join('wh_b', claimed(200));
  now += 600;
  lines.join('wh_a', claimed(101));
  now += 400;
  assert.deepEqual(lines.stale('wh_a'), [], 'a second is not too long');
  now += 1;
  assert.deepEqual(
    lines.stale('wh_a').map((d) => d.delivery),
    [100],
  );
  assert.deepEqual(lines.stale('wh_a'), []);
  assert.equal(lines.done('wh_a', 5)?.delivery, 101);
  now += 10_000;
  assert.deepEqual(lines.stale('wh_unknown'), []);
});

test('mails have few hands and none ahead', () => {
  const lines = new Lines();
  lines.join(MAIL, claimed(1));
  lines.done(MAIL, 1);
  assert.ok(lines.limit(MAIL) < MAX);
});
