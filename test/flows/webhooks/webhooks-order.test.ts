// Order, rate, and what one webhook may cost the others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { attempted, createWebhook, deliveries, EMIT_BODY, newestDelivery } from '../../support/webhooks.ts';

const newErrand = shareErrand();

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const bodies = (received: readonly { body: Buffer }[]): string[] => received.map((r) => String(r.body));

test('a failing head holds up an ordered webhook', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using other = await startReceiver();
  receiver.answer((n) => (n < 2 ? 500 : 200));
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver, {
    ordered: true,
    retry: { delays_ms: [10 * MINUTE_MS, 10 * MINUTE_MS] },
  });
  const free = await createWebhook(errand, other);
  for (const { id } of [webhook, free]) await errand.subscribe(emitter.id, id);
  await errand.send(emitter, { n: 1 });
  const head = await newestDelivery(errand, webhook.id);
  await attempted(errand, head.id, 1);
  for (const n of [2, 3, 4]) {
    await errand.send(emitter, { n });
    await deliveries(errand, free.id, 'delivered', n);
  }
  assert.deepEqual(bodies(receiver.received), ['{"n":1}']);
  const waiting = await deliveries(errand, webhook.id, 'pending', 3);
  for (const { why } of waiting) assert.match(why, new RegExp(`ordered: ${head.id} comes first`));
  assert.match(waiting[0]?.why, /2 deliveries come before it|3 deliveries come before it/);
  errand.forward(12 * MINUTE_MS);
  await attempted(errand, head.id, 2);
  await errand.restart();
  assert.deepEqual(bodies(receiver.received), ['{"n":1}', '{"n":1}']);
  errand.forward(12 * MINUTE_MS);
  await deliveries(errand, webhook.id, 'delivered', 4);
  assert.deepEqual(bodies(receiver.received).slice(2), ['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}']);
});

test('a head that is given up lets the next go', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  receiver.answer((n) => (n === 1 ? 400 : 200));
  const emitter = await errand.workflow(
    'export default ({ $ }) => { for (let n = 0; n < 20; n += 1) $.send.emit({ n }); };',
  );
  const webhook = await createWebhook(errand, receiver, { ordered: true, retry: { delays_ms: [] } });
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, {});
  await deliveries(errand, webhook.id, 'delivered', 19);
  assert.deepEqual(
    bodies(receiver.received),
    Array.from({ length: 20 }, (_, n) => `{"n":${n}}`),
    'each once, and in the order of the emissions',
  );
});

test('no more requests begin than the rate allows', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  await using other = await startReceiver();
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver, { rate_limit: { limit: 2, interval_ms: DAY_MS } });
  const free = await createWebhook(errand, other);
  for (const { id } of [webhook, free]) await errand.subscribe(emitter.id, id);
  for (let n = 0; n < 6; n += 1) await errand.send(emitter, { n });
  await deliveries(errand, free.id, 'delivered', 6);
  await deliveries(errand, webhook.id, 'delivered', 2);
  const [newest] = await deliveries(errand, webhook.id, 'pending', 4);
  assert.match(newest.why, /takes at most 2 requests in 1 d \(rate_limit\)/);
  assert.equal(receiver.received.length, 2);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { rate_limit: { limit: 3, interval_ms: DAY_MS } });
  await receiver.wait(3);
  await deliveries(errand, webhook.id, 'delivered', 3);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { rate_limit: null });
  await deliveries(errand, webhook.id, 'delivered', 6);
  assert.equal(receiver.received.length, 6);
});

test('a short rate lets everything through in time', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver, { rate_limit: { limit: 2, interval_ms: 50 } });
  await errand.subscribe(emitter.id, webhook.id);
  for (let n = 0; n < 10; n += 1) await errand.send(emitter, { n });
  await deliveries(errand, webhook.id, 'delivered', 10);
  assert.equal(new Set(bodies(receiver.received)).size, 10);
});

test('a dead webhook holds up no others', async () => {
  await using errand = await newErrand();
  await using dead = await startGate();
  await using receiver = await startReceiver();
  const emitter = await errand.workflow(EMIT_BODY);
  for (let n = 0; n < 3; n += 1) {
    const webhook = await createWebhook(errand, { url: `${dead.url}/${n}` }, { timeout_ms: 60_000 });
    await errand.subscribe(emitter.id, webhook.id);
  }
  const healthy = await Promise.all(
    ['/a', '/b', '/c'].map((path) => createWebhook(errand, { url: new URL(path, receiver.url).href })),
  );
  for (const { id } of healthy) await errand.subscribe(emitter.id, id);
  for (let n = 0; n < 30; n += 1) await errand.send(emitter, { n });
  await receiver.wait(90);
  for (const { id } of healthy) await deliveries(errand, id, 'delivered', 30);
  assert.ok(dead.holding > 0, 'while the dead ones still hang');
  assert.ok(dead.most <= 24, `8 each: ${dead.most}`);
  dead.open();
  await dead.wait(90);
  await errand.settled();
});
