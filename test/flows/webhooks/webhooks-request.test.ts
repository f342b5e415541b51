// The request that a webhook receives, and which emissions cause one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type Received, startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { emissionsPath } from '../../support/sources/sources.ts';
import { createWebhook, deliveries, EMIT_BODY, emitterWithWebhook } from '../../support/webhooks.ts';

const newErrand = shareErrand();

function standardHeaders(received: Received): Record<string, string> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, String(received.headers[name])]));
}

test('each matching emission is one post', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  for (const n of [1, 2, 3]) await errand.send(emitter, { n });
  await receiver.wait(3);
  await errand.settled();
  const bodies = receiver.received.map((r) => String(r.body)).sort();
  assert.deepEqual(bodies, ['{"n":1}', '{"n":2}', '{"n":3}']);
  assert.equal(new Set(receiver.received.map((r) => r.headers['webhook-id'])).size, 3);
  assert.equal((await deliveries(errand, webhook.id, 'delivered', 3)).length, 3);
});

test('the request carries the documented headers', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { a: [1, 'é', null] });
  const [got] = await receiver.wait(1);
  assert.ok(got);
  const { headers } = got;
  assert.equal(got.method, 'POST');
  assert.equal(got.path, '/hook');
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(headers['content-length'], String(got.body.length));
  assert.match(String(headers['webhook-id']), /^[^.\s]+$/);
  assert.match(String(headers['webhook-timestamp']), /^\d{10}$/);
  assert.ok(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000) < 60);
  assert.match(String(headers['webhook-signature']), /^v1,[A-Za-z0-9+/]{43}=$/);
  assert.equal(headers['errand-emitter-id'], emitter.id);
  assert.equal(headers['errand-event-name'], '');
  assert.equal(headers['errand-attempt'], '1');
  assert.equal(headers['errand-trigger'], 'event');
  assert.match(String(headers['user-agent']), /^errand\/\d+\.\d+\.\d+/);
  assert.equal(headers['accept-encoding'], 'identity');
  assert.equal(headers.authorization, undefined);
});

test('the standard webhooks package verifies the signature', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  const other = await createWebhook(errand, receiver);
  const event = { text: 'ünïcode 😀 "quoted" \\ \u0001', n: 1.5 };
  await errand.send(emitter, event);
  const [got] = await receiver.wait(1);
  assert.ok(got);
  const verifier = new Webhook(webhook.secret);
  assert.deepEqual(verifier.verify(got.body, standardHeaders(got)), event);
  const tampered = Buffer.concat([got.body.subarray(0, -1), Buffer.from(' }')]);
  assert.throws(() => verifier.verify(tampered, standardHeaders(got)));
  assert.throws(() => new Webhook(other.secret).verify(got.body, standardHeaders(got)));
});

test('the body has the listed bytes exactly', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { deep: [{ a: 'x\u2028y' }], n: 1e21, empty: {}, zero: -0 });
  const [got] = await receiver.wait(1);
  const listed = await errand.client.request('GET', `${emissionsPath(emitter.id)}?expand=event`);
  assert.ok(listed.text.includes(`"event":${got?.body}`), `${got?.body} in ${listed.text}`);
});

test('errors reach a webhook as the flat object', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const webhook = await createWebhook(errand, receiver);
  const failing = await errand.workflow(`export default () => { throw new Error('for the webhook'); };`);
  await errand.subscribe(failing.id, webhook.id, '$errors');
  const body = '{"n": 12345678901234567890, "n": 1e400}';
  await errand.send(failing, body);
  const [got] = await receiver.wait(1);
  assert.equal(got?.headers['errand-event-name'], '$errors');
  assert.equal(got?.headers['errand-emitter-id'], failing.id);
  const text = String(got?.body);
  const event = JSON.parse(text);
  assert.deepEqual(Object.keys(event).sort(), ['error', 'original_context', 'original_event']);
  assert.equal(event.error.msg, 'for the webhook');
  assert.equal(event.original_context.workflow_id, failing.id);
  assert.ok(text.includes(`"body":${body}`), text);
  const listed = await errand.client.request('GET', `/v1/workflows/${failing.id}/$errors/event_summaries?expand=event`);
  assert.ok(listed.text.includes(text), 'the same bytes as in the listing');
});

test('errors are heard by their name alone', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const failing = await errand.workflow(`export default ({ steps, $ }) => {
    if (steps.trigger.event.body.fail) throw new Error('not for everyone');
    $.send.emit({ named: true }, 'orders');
  };`);
  const names: Record<string, string | undefined> = { '/none': undefined, '/star': '*', '/errors': '$errors' };
  for (const [path, name] of Object.entries(names)) {
    const webhook = await createWebhook(errand, { url: new URL(path, receiver.url).href });
    for (const emitter of [failing.id, 'p_*']) await errand.subscribe(emitter, webhook.id, name);
  }
  await errand.send(failing, { fail: true });
  await errand.errors(failing.id, 1);
  await errand.send(failing, { fail: false });
  await receiver.wait(2);
  await errand.settled();
  const heard = receiver.received.map((r) => `${r.path} ${r.headers['errand-event-name']}`);
  assert.deepEqual(heard.sort(), ['/errors $errors', '/star orders']);
});

test('several webhooks of one emitter each hear', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const emitter = await errand.workflow(EMIT_BODY);
  const secrets = new Map<string, string>();
  for (const path of ['/a', '/b', '/c']) {
    const webhook = await createWebhook(errand, { url: new URL(path, receiver.url).href });
    secrets.set(path, webhook.secret);
    await errand.subscribe(emitter.id, webhook.id);
  }
  await errand.send(emitter, { n: 1 });
  await receiver.wait(3);
  await errand.settled();
  assert.deepEqual(receiver.received.map((r) => r.path).sort(), ['/a', '/b', '/c']);
  for (const got of receiver.received) {
    assert.deepEqual(new Webhook(secrets.get(got.path) ?? '').verify(got.body, standardHeaders(got)), { n: 1 });
  }
});

test('two matching subscriptions make one post', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.subscribe('p_*', webhook.id);
  await errand.subscribe('*', webhook.id, '*');
  await errand.send(emitter, { n: 1 });
  await errand.send(emitter, { n: 2 });
  await receiver.wait(2);
  await errand.settled();
  const bodies = receiver.received.map((r) => String(r.body)).filter((body) => /^\{"n":\d\}$/.test(body));
  assert.deepEqual(bodies.sort(), ['{"n":1}', '{"n":2}']);
});

test('a webhook hears a trigger itself', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const workflow = await errand.workflow('export default () => 1;');
  const webhook = await createWebhook(errand, receiver);
  await errand.subscribe(workflow.triggers[0].id, webhook.id);
  await errand.send(workflow, '{"raw":  1}');
  const [got] = await receiver.wait(1);
  assert.equal(got?.headers['errand-emitter-id'], workflow.triggers[0].id);
  assert.ok(String(got?.body).includes('"body":{"raw":  1}'), String(got?.body));
});

test('delivery to a webhook runs no workflow', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const { emitter } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  await receiver.wait(1);
  const { runs, deliveries: sent } = await errand.settled();
  assert.equal(runs.total, 1, 'the emitter itself');
  assert.equal(sent.delivered, 1);
});

test('an ended subscription is heard no more', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await using other = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  const kept = await createWebhook(errand, other);
  await errand.subscribe(emitter.id, kept.id);
  await errand.send(emitter, { n: 1 });
  await receiver.wait(1);
  const query = new URLSearchParams({ emitter_id: emitter.id, listener_id: webhook.id });
  await errand.client.delete(`/v1/subscriptions?${query}`);
  await errand.send(emitter, { n: 2 });
  await other.wait(2);
  await errand.settled();
  assert.equal(receiver.received.length, 1);
});
