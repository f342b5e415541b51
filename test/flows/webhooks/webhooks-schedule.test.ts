// When a failing delivery is tried again, and what happens at the end of its schedule.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { attempted, deliveries, emitterWithWebhook, newestDelivery } from '../../support/webhooks.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DELAYS_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
/** Time between the start of an attempt and the reckoning of the next. */
const SLACK_MS = 2 * SECOND_MS;

/** Asserts that the next attempt is due after `delayMs`, give or take a tenth; returns how long that may be at most. */
function assertDue(delivery: Json, delayMs: number): number {
  const last = delivery.attempts.at(-1);
  const waitMs = delivery.next_attempt_at_ms - last.started_at_ms;
  assert.equal(delivery.state, 'retrying');
  assert.ok(waitMs >= delayMs * 0.9 && waitMs <= delayMs * 1.1 + SLACK_MS, `${waitMs} ms instead of ${delayMs} ms`);
  return Math.ceil(delayMs * 1.1) + SLACK_MS;
}

test('a failing delivery goes through its schedule', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(500);
  const me = (await errand.client.get('/v1/users/me')).data;
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, '{"big": 2}');
  const { id } = await newestDelivery(errand, webhook.id);
  for (const [index, delayMs] of DELAYS_MS.entries()) {
    errand.forward(assertDue(await attempted(errand, id, index + 1), delayMs));
  }
  const [exhausted] = await deliveries(errand, webhook.id, 'exhausted');
  assert.equal(exhausted.id, id);
  assert.equal(exhausted.attempts_made, 11);
  assert.equal(exhausted.next_attempt_at_ms, null);
  assert.ok(exhausted.ended_at_ms > exhausted.created_at_ms + 75 * HOUR_MS);
  assert.deepEqual(
    exhausted.attempts.map((a: Json) => a.n),
    Array.from({ length: 11 }, (_, n) => n + 1),
  );
  for (const attempt of exhausted.attempts) {
    assert.equal(attempt.outcome, 'answered');
    assert.equal(attempt.status, 500);
    assert.equal(attempt.response_body, 'answered 500');
    assert.equal(attempt.response_headers['content-type'], 'text/plain');
    assert.ok(attempt.took_ms >= 0);
    assert.equal(attempt.trigger, attempt.n === 1 ? 'event' : 'retry');
  }
  const ids = new Set(receiver.received.map((r) => r.headers['webhook-id']));
  assert.equal(ids.size, 1, 'webhook-id is the same in every attempt');
  assert.deepEqual(
    receiver.received.map((r) => r.headers['errand-attempt']),
    exhausted.attempts.map((a: Json) => String(a.n)),
  );
  assert.equal(new Set(receiver.received.map((r) => String(r.body))).size, 1);

  const errors = await errand.errors(webhook.id, 1);
  const record = errors.find((e: Json) => e.event.error.code === 'DeliveryExhausted');
  assert.ok(record, JSON.stringify(errors.map((e: Json) => e.event.error.code)));
  assert.equal(record.metadata.emitter_id, webhook.id);
  assert.equal(record.metadata.name, '$errors');
  assert.deepEqual(record.event.original_event, { big: 2 });
  assert.equal(record.event.original_context.emitter_id, emitter.id);
  const runs = await errand.runs(me.global_error_workflow_id, errors.length);
  const events = await Promise.all(runs.map(async (run) => (await errand.client.get(`/v1/runs/${run.id}`)).data.event));
  assert.ok(
    events.some((event) => event.error.code === 'DeliveryExhausted'),
    'the global error workflow was told',
  );
});

test('attempts are stamped and signed afresh', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n < 2 ? 500 : 200));
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const { id } = await newestDelivery(errand, webhook.id);
  for (const [index, delayMs] of DELAYS_MS.slice(0, 2).entries()) {
    errand.forward(assertDue(await attempted(errand, id, index + 1), delayMs));
  }
  const [delivered] = await deliveries(errand, webhook.id, 'delivered');
  assert.equal(delivered.attempts_made, 3);
  assert.deepEqual(
    delivered.attempts.map((a: Json) => a.status),
    [500, 500, 200],
  );
  assert.equal(delivered.next_attempt_at_ms, null);
  const stamps = receiver.received.map((r) => Number(r.headers['webhook-timestamp']));
  for (const [n, attempt] of delivered.attempts.entries()) {
    assert.ok(Math.abs((stamps[n] ?? 0) - attempt.started_at_ms / 1000) <= 2, 'unix seconds of this attempt');
  }
  assert.equal(new Set(receiver.received.map((r) => r.headers['webhook-signature'])).size, 3);
  const page = await errand.client.get(`/v1/webhooks/${webhook.id}/$errors/event_summaries`);
  assert.deepEqual(page.data, [], 'delivered in the end: no error');
});

test('the schedule survives a restart', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n < 2 ? 503 : 200));
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const { id } = await newestDelivery(errand, webhook.id);
  for (const [index, delayMs] of DELAYS_MS.slice(0, 2).entries()) {
    const before = await attempted(errand, id, index + 1);
    const waitMs = assertDue(before, delayMs);
    await errand.restart();
    const after = (await errand.client.get(`/v1/deliveries/${id}`)).data;
    assert.equal(after.next_attempt_at_ms, before.next_attempt_at_ms);
    assert.equal(after.state, 'retrying');
    errand.forward(waitMs);
  }
  const [delivered] = await deliveries(errand, webhook.id, 'delivered');
  assert.equal(delivered.id, id);
  assert.equal(new Set(receiver.received.map((r) => r.headers['webhook-id'])).size, 1);
  assert.deepEqual(
    receiver.received.map((r) => r.headers['errand-trigger']),
    ['event', 'retry', 'retry'],
  );
});

test('a retrying delivery says why it waits', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(502);
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const { id } = await newestDelivery(errand, webhook.id);
  const delivery = await attempted(errand, id, 1);
  assert.equal(delivery.webhook_id, webhook.id);
  assert.match(delivery.id, /^dl_/);
  assert.match(delivery.subscription_id, /^sub_/);
  assert.equal(delivery.emitter_id, emitter.id);
  assert.equal(delivery.event_name, '');
  assert.equal(delivery.attempts_made, 1);
  assert.equal(delivery.ended_at_ms, null);
  assert.ok(typeof delivery.why === 'string' && delivery.why.length > 5, `why: ${delivery.why}`);
});

test('retry-after makes the whole webhook wait', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(429, { 'retry-after': '3600' });
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const { id } = await newestDelivery(errand, webhook.id);
  const first = await attempted(errand, id, 1);
  assert.notEqual(first.state, 'exhausted');
  const waitMs = first.next_attempt_at_ms - first.attempts[0].started_at_ms;
  assert.ok(waitMs >= HOUR_MS - SECOND_MS, `not before an hour: ${waitMs} ms`);
  assert.equal(first.attempts_made, 0, 'the attempt does not count');
  receiver.answer(200);
  await errand.send(emitter, { n: 2 });
  errand.forward(30 * MINUTE_MS);
  const { data: ledger } = await errand.client.get('/v1/ledger');
  assert.equal(ledger.deliveries.delivered, 0);
  assert.equal(receiver.received.length, 1, 'the second event waits as well');
  errand.forward(31 * MINUTE_MS);
  assert.equal((await deliveries(errand, webhook.id, 'delivered', 2)).length, 2);
});

test('deliveries are listed by their state', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 0 ? 500 : 200));
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const [failed] = await deliveries(errand, webhook.id, 'retrying');
  await errand.send(emitter, { n: 2 });
  errand.forward(10 * SECOND_MS);
  const done = await deliveries(errand, webhook.id, 'delivered', 2);
  assert.ok(done.some((d) => d.id === failed.id));
  const path = `/v1/webhooks/${webhook.id}/deliveries`;
  for (const state of ['pending', 'sending', 'retrying', 'held', 'exhausted', 'cancelled']) {
    assert.deepEqual((await errand.client.get(`${path}?state=${state}`)).data, [], state);
  }
  const all = await errand.client.get(path);
  assert.deepEqual(all.data.map((d: Json) => d.id).sort(), done.map((d) => d.id).sort());
  const wrong = await errand.client.request('GET', `${path}?state=lost`);
  assert.equal(wrong.status, 400);
  assert.match(wrong.json.error, /state/);
});
