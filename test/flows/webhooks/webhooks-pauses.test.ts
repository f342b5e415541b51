// Retry-After: the whole webhook waits as long as its receiver asks, and nobody else does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { attempted, createWebhook, deliveries, emitterWithWebhook, newestDelivery } from '../../support/webhooks.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';

const newErrand = shareErrand();

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const healthOf = async (errand: Errand, webhook: Json): Promise<Json> =>
  (await errand.client.get(`/v1/webhooks/${webhook.id}`)).data.health;

test('a pause outlives a restart and holds up nobody else', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using other = await startReceiver();
  receiver.answer((n) => (n === 0 ? 503 : 200), { 'retry-after': '7200' });
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  const free = await createWebhook(errand, other);
  await errand.subscribe(emitter.id, free.id);
  await errand.send(emitter, { n: 1 });
  const { id } = await newestDelivery(errand, webhook.id);
  const first = await attempted(errand, id, 1);
  const untilMs = first.next_attempt_at_ms;
  assert.equal(first.state, 'retrying');
  assert.equal(first.attempts_made, 0);
  assert.deepEqual(
    [first.attempts[0].n, first.attempts[0].status, first.attempts[0].retry_after_ms],
    [1, 503, 7_200_000],
  );
  assert.match(first.why, /answered 503 and asked to be left alone \(Retry-After: 7200\) until .*does not count/);
  const health = await healthOf(errand, webhook);
  assert.deepEqual([health.status, health.paused_until_ms], ['paused', untilMs]);

  await errand.restart();
  const data = (await errand.client.get(`/v1/workflows/${emitter.id}`)).data;
  await errand.send(data, { n: 2 });
  await deliveries(errand, free.id, 'delivered', 2);
  const second = (await errand.client.get(`/v1/webhooks/${webhook.id}/deliveries?limit=1`)).data[0];
  assert.deepEqual([second.state, second.attempts_made, second.next_attempt_at_ms], ['pending', 0, untilMs]);
  const { why, next_attempt_at_ms: dueAtMs } = (await errand.client.get(`/v1/deliveries/${second.id}`)).data;
  assert.match(why, /waits for its first attempt\. The webhook is paused/);
  assert.equal(dueAtMs, untilMs);
  assert.equal(receiver.received.length, 1);

  errand.forward(2 * HOUR_MS + MINUTE_MS);
  const [, one] = await deliveries(errand, webhook.id, 'delivered', 2);
  assert.equal(one.attempts_made, 1, 'the first one that counts');
  assert.deepEqual(
    one.attempts.map((a: Json) => [a.n, a.trigger, a.status]),
    [
      [1, 'event', 503],
      [2, 'retry', 200],
    ],
  );
  assert.deepEqual(withoutIso(await healthOf(errand, webhook)), {
    status: 'healthy',
    failing_since_ms: null,
    exhausted_in_row: 0,
    paused_until_ms: null,
  });
});

test('a date is obeyed, and 24 hours at most', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const asked = new Date(Date.now() + 3 * HOUR_MS);
  for (const [value, leastMs, mostMs] of [
    [asked.toUTCString(), 3 * HOUR_MS - 2000 - MINUTE_MS, 3 * HOUR_MS],
    ['99999999', DAY_MS, DAY_MS],
    [new Date(Date.now() + 30 * DAY_MS).toUTCString(), DAY_MS, DAY_MS],
  ] as const) {
    receiver.answer(429, { 'retry-after': value });
    const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
    await errand.send(emitter, { value });
    const delivery = await attempted(errand, (await newestDelivery(errand, webhook.id)).id, 1);
    const [attempt] = delivery.attempts;
    assert.ok(
      attempt.retry_after_ms >= leastMs && attempt.retry_after_ms <= mostMs,
      `${value}: ${attempt.retry_after_ms} ms`,
    );
    assert.ok(delivery.next_attempt_at_ms >= attempt.started_at_ms + attempt.retry_after_ms, 'never earlier');
  }
});

test('what cannot be read as a pause is a failure', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  for (const [status, value] of [
    [429, '0'],
    [429, '-5'],
    [503, 'soon'],
    [429, new Date(Date.now() - HOUR_MS).toUTCString()],
    [500, '3600'],
  ] as const) {
    receiver.answer(status, { 'retry-after': value });
    const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
    await errand.send(emitter, { value });
    const delivery = await attempted(errand, (await newestDelivery(errand, webhook.id)).id, 1);
    assert.equal(delivery.attempts_made, 1, `${status} ${value}: it counts`);
    assert.match(delivery.why, /Attempt 1 failed: .* 5 s in the schedule of retries/);
    assert.equal((await healthOf(errand, webhook)).status, 'failing');
  }
});

test('a new address ends the pause at once', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await using moved = await startReceiver();
  receiver.answer(429, { 'retry-after': '3600' });
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  await attempted(errand, (await newestDelivery(errand, webhook.id)).id, 1);
  const changed = await errand.client.put(`/v1/webhooks/${webhook.id}`, { url: moved.url });
  assert.equal(changed.health.status, 'healthy');
  await errand.send(emitter, { n: 2 });
  await moved.wait(1);
  const [delivered] = await deliveries(errand, webhook.id, 'delivered');
  assert.equal(delivered.attempts_made, 1);
});
