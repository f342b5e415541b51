// Answers and failures that are no ordinary retry: redirects, 410, forbidden addresses, nobody there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import {
  attempted,
  createWebhook,
  deliveries,
  EMIT_BODY,
  emitterWithWebhook,
  newestDelivery,
} from '../../support/webhooks.ts';

const newErrand = shareErrand();

test('redirects are failures and never followed', async () => {
  await using errand = await newErrand();
  await using target = await startReceiver();
  await using receiver = await startReceiver();
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer(status, { location: target.url });
    const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
    await errand.send(emitter, { status });
    const delivery = await attempted(errand, (await newestDelivery(errand, webhook.id)).id, 1);
    assert.equal(delivery.state, 'retrying');
    assert.equal(delivery.attempts[0].outcome, 'answered');
    assert.equal(delivery.attempts[0].status, status);
    assert.equal(delivery.attempts[0].response_headers.location, target.url);
  }
  const { emitter } = await emitterWithWebhook(errand, target);
  await errand.send(emitter, { direct: true });
  await target.wait(1);
  assert.deepEqual(
    target.received.map((r) => String(r.body)),
    ['{"direct":true}'],
  );
});

test('every 2xx counts as delivered', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  for (const status of [200, 201, 202, 204, 299]) {
    receiver.answer(status);
    const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
    await errand.send(emitter, { status });
    const [delivery] = await deliveries(errand, webhook.id, 'delivered');
    assert.equal(delivery.attempts[0].status, status);
  }
});

test('every other answer is tried again', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  for (const status of [400, 401, 404, 422, 429, 500, 503]) {
    receiver.answer(status);
    const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
    await errand.send(emitter, { status });
    const [delivery] = await deliveries(errand, webhook.id, 'retrying');
    assert.equal(delivery.attempts[0].status, status);
  }
});

test('410 disables the webhook and holds what follows', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(410);
  const me = (await errand.client.get('/v1/users/me')).data;
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const [exhausted] = await deliveries(errand, webhook.id, 'exhausted');
  assert.equal(exhausted.attempts.length, 1);
  assert.equal(exhausted.attempts[0].status, 410);
  const [record] = await errand.errors(webhook.id, 1);
  assert.equal(record.event.error.code, 'WebhookGone');
  const { data: one } = await errand.client.get(`/v1/webhooks/${webhook.id}/$errors/event_summaries/${record.id}`);
  assert.deepEqual([one.delivery_id, one.run_id, one.run_retained], [exhausted.id, null, null]);
  assert.deepEqual(record.event.original_event, { n: 1 });
  await errand.runs(me.global_error_workflow_id, 1);
  assert.equal((await errand.client.get(`/v1/webhooks/${webhook.id}`)).data.active, false);

  receiver.answer(200);
  await errand.send(emitter, { n: 2 });
  await errand.send(emitter, { n: 3 });
  const held = await deliveries(errand, webhook.id, 'held', 2);
  assert.equal(held.length, 2);
  assert.ok(held.every((d) => d.attempts.length === 0));
  assert.equal(receiver.received.length, 1);
  await errand.restart();
  assert.equal((await deliveries(errand, webhook.id, 'held', 2)).length, 2);

  const changed = await errand.client.put(`/v1/webhooks/${webhook.id}`, { active: true });
  assert.equal(changed.active, true);
  await deliveries(errand, webhook.id, 'delivered', 2);
  assert.deepEqual(
    receiver.received
      .slice(1)
      .map((r) => String(r.body))
      .sort(),
    ['{"n":2}', '{"n":3}'],
  );
});

test('a webhook made inactive holds its deliveries', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { active: false });
  await errand.send(emitter, { n: 1 });
  await deliveries(errand, webhook.id, 'held');
  const { data } = await errand.client.get('/v1/ledger');
  assert.equal(data.deliveries.held, 1);
  assert.equal(receiver.received.length, 0);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { active: true });
  const [got] = await receiver.wait(1);
  assert.equal(String(got?.body), '{"n":1}');
  assert.equal(got?.headers['errand-attempt'], '1');
});

test('a webhook created inactive holds its deliveries', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver, { active: false });
  assert.deepEqual([webhook.active, webhook.health.status], [false, 'disabled']);
  const byQuery = await errand.client.post(`/v1/webhooks?active=false&url=${encodeURIComponent(receiver.url)}`);
  assert.equal(byQuery.active, false);
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, { n: 1 });
  await deliveries(errand, webhook.id, 'held');
  assert.equal(receiver.received.length, 0);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { active: true });
  const [got] = await receiver.wait(1);
  assert.equal(String(got?.body), '{"n":1}');
});

test('a forbidden address is refused at once', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const me = (await errand.client.get('/v1/users/me')).data;
  const { port } = new URL(receiver.url);
  const urls = [receiver.url, `http://localhost:${port}/hook`];
  const emitters: Json[] = [];
  for (const url of urls) {
    const { emitter, webhook } = await emitterWithWebhook(errand, { ...receiver, url } as typeof receiver);
    await errand.client.put(`/v1/webhooks/${webhook.id}`, { name: url });
    emitters.push({ emitter, webhook, url });
  }
  await errand.restart({ ERRAND_ALLOW_TARGETS: '' });
  for (const { emitter, webhook, url } of emitters) {
    const { data } = await errand.client.get(`/v1/workflows/${emitter.id}`);
    await errand.send(data, { to: url });
    const [delivery] = await deliveries(errand, webhook.id, 'exhausted');
    assert.equal(delivery.attempts.length, 1, 'exhausted at once');
    const [attempt] = delivery.attempts;
    assert.equal(attempt.outcome, 'forbidden');
    assert.equal(attempt.status, null);
    assert.equal(attempt.response_body, '');
    const [record] = await errand.errors(webhook.id, 1);
    assert.equal(record.event.error.code, 'DeliveryRefused');
    assert.deepEqual(record.event.original_event, { to: url });
    assert.equal((await errand.client.get(`/v1/webhooks/${webhook.id}`)).data.active, true);
  }
  await errand.runs(me.global_error_workflow_id, 2);
  assert.equal(receiver.received.length, 0, 'the receiver saw nothing');
});

test('nobody listening is an outcome with detail', async () => {
  await using errand = await newErrand();
  const receiver = await startReceiver();
  const { url } = receiver;
  await receiver[Symbol.asyncDispose]();
  const { emitter, webhook } = await emitterWithWebhook(errand, { ...receiver, url });
  await errand.send(emitter, { n: 1 });
  const [delivery] = await deliveries(errand, webhook.id, 'retrying');
  assert.equal(delivery.attempts[0].outcome, 'refused');
  assert.equal(delivery.attempts[0].status, null);
  assert.ok(delivery.attempts[0].detail.length > 0);
});

test('a name without address is tried again', async () => {
  await using errand = await newErrand();
  const { emitter, webhook } = await emitterWithWebhook(errand, {
    url: 'http://no-such-name.invalid/hook',
  } as Parameters<typeof emitterWithWebhook>[1]);
  await errand.send(emitter, { n: 1 });
  const [delivery] = await deliveries(errand, webhook.id, 'retrying');
  assert.equal(delivery.attempts[0].outcome, 'dns');
});

test('a failing webhook holds up no other', async () => {
  await using errand = await newErrand();
  await using bad = await startReceiver();
  await using good = await startReceiver();
  bad.answer(500);
  const { emitter, webhook } = await emitterWithWebhook(errand, bad);
  const healthy = await createWebhook(errand, good);
  await errand.subscribe(emitter.id, healthy.id);
  for (let n = 0; n < 20; n += 1) await errand.send(emitter, { n });
  await good.wait(20);
  await deliveries(errand, healthy.id, 'delivered', 20);
  const [failing] = await deliveries(errand, webhook.id, 'retrying');
  assert.equal(failing.attempts[0].status, 500);
});

test('the first 4 KiB of an answer stay', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  for (const [status, chars] of [
    [500, 5000],
    [200, 5000],
    [200, 1_000_000],
  ] as const) {
    receiver.answer(status, { 'x-more': 'm'.repeat(1000) }, 'b'.repeat(chars));
    const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
    await errand.send(emitter, { n: 1 });
    const [delivery] = await deliveries(errand, webhook.id, status === 200 ? 'delivered' : 'retrying');
    const [attempt] = delivery.attempts;
    assert.equal(attempt.status, status, 'the status counts, however long the body');
    assert.equal(attempt.response_body, 'b'.repeat(4096));
    assert.equal(attempt.response_headers['x-more'], 'm'.repeat(1000));
  }
});
