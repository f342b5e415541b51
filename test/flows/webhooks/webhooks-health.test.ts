// A webhook that keeps failing: who is told, when it is disabled, and what becomes of its events.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { until } from '../../support/wait.ts';
import { attempted, createWebhook, deliveries, EMIT_BODY, newestDelivery } from '../../support/webhooks.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

interface Failing {
  readonly emitter: Json;
  readonly webhook: Json;
  /** Sends `count` events, each given up after one attempt, one after the other. */
  giveUp(count: number): Promise<void>;
  health(): Promise<Json>;
  /** Codes of the webhook's errors, newest first, once there are `count`. */
  codes(count: number): Promise<string[]>;
}

async function failingWebhook(errand: Errand, receiver: Receiver, more: Json = {}): Promise<Failing> {
  receiver.answer(500);
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver, { retry: { delays_ms: [] }, ...more });
  await errand.subscribe(emitter.id, webhook.id);
  let given = 0;
  return {
    emitter,
    webhook,
    giveUp: async (count) => {
      for (let n = 0; n < count; n += 1) {
        await errand.send(emitter, { n: given });
        given += 1;
        await deliveries(errand, webhook.id, 'exhausted', given);
      }
    },
    health: async () => (await errand.client.get(`/v1/webhooks/${webhook.id}`)).data.health,
    codes: async (count) => (await errand.errors(webhook.id, count)).map((record) => record.event.error.code),
  };
}

test('three given up in a row are told once', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using listener = await startReceiver();
  const me = (await errand.client.get('/v1/users/me')).data;
  const { webhook, giveUp, health, codes } = await failingWebhook(errand, receiver);
  const told = await createWebhook(errand, listener);
  await errand.subscribe(webhook.id, told.id, '$errors');
  await giveUp(2);
  const before = await health();
  assert.deepEqual([before.status, before.exhausted_in_row], ['failing', 2]);
  assert.deepEqual(await codes(2), ['DeliveryExhausted', 'DeliveryExhausted']);
  await giveUp(1);
  assert.deepEqual(await codes(4), ['WebhookFailing', 'DeliveryExhausted', 'DeliveryExhausted', 'DeliveryExhausted']);
  await giveUp(1);
  assert.deepEqual((await codes(5)).slice(0, 2), ['DeliveryExhausted', 'WebhookFailing']);
  const [, record] = await errand.errors(webhook.id, 5);
  const { error, original_event: event, original_context: context } = record.event;
  assert.match(
    error.msg,
    /^The webhook fails\. No attempt has succeeded since .* \(3 deliveries exhausted\)\. The last one: .*500/,
  );
  assert.deepEqual(event, { n: 2 });
  assert.equal(context.webhook_id, webhook.id);

  const received = await listener.wait(5);
  const bodies = received.map((r) => JSON.parse(String(r.body)).error.code);
  assert.equal(bodies.filter((code) => code === 'WebhookFailing').length, 1, 'the subscriber is told');
  const runs = await errand.runs(me.global_error_workflow_id, 5);
  const events = await Promise.all(runs.map(async (run) => (await errand.client.get(`/v1/runs/${run.id}`)).data.event));
  assert.equal(events.filter((each) => each.error.code === 'WebhookFailing').length, 1, 'and the owner');
  const mails = await until('a mail about it', async () => {
    const all = await errand.outbox();
    return all.some((mail) => mail.includes('WebhookFailing')) && all;
  });
  assert.equal(mails.filter((mail) => /^Subject:.*WebhookFailing/m.test(mail)).length, 1);
});

test('a success in between makes all good', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook, giveUp, health, codes } = await failingWebhook(errand, receiver);
  await giveUp(2);
  receiver.answer(200);
  await errand.send(emitter, { good: true });
  await deliveries(errand, webhook.id, 'delivered');
  assert.deepEqual(withoutIso(await health()), {
    status: 'healthy',
    failing_since_ms: null,
    exhausted_in_row: 0,
    paused_until_ms: null,
  });
  receiver.answer(500);
  await giveUp(2);
  await errand.settled();
  assert.deepEqual(await codes(4), Array(4).fill('DeliveryExhausted'));
  assert.equal((await health()).exhausted_in_row, 2);
});

test('a day of failures alone is told', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook, codes, health } = await failingWebhook(errand, receiver, {
    retry: { delays_ms: [DAY_MS * 1.2, DAY_MS] },
  });
  await errand.send(emitter, { n: 1 });
  const { id } = await newestDelivery(errand, webhook.id);
  await attempted(errand, id, 1);
  errand.forward(DAY_MS * 1.4);
  await attempted(errand, id, 2);
  assert.deepEqual(await codes(1), ['WebhookFailing']);
  const { status, exhausted_in_row: exhausted } = await health();
  assert.deepEqual([status, exhausted], ['failing', 0]);
});

test('five days of failures disable the webhook', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  await using listener = await startReceiver();
  const me = (await errand.client.get('/v1/users/me')).data;
  const { emitter, webhook, giveUp, health, codes } = await failingWebhook(errand, receiver);
  const told = await createWebhook(errand, listener);
  await errand.subscribe(webhook.id, told.id, '$errors');
  await giveUp(3);
  await codes(4);
  errand.forward(5 * DAY_MS + MINUTE_MS);
  await giveUp(1);
  assert.deepEqual((await codes(6)).slice(0, 2), ['WebhookDisabled', 'DeliveryExhausted']);
  const shown = (await errand.client.get(`/v1/webhooks/${webhook.id}`)).data;
  assert.deepEqual([shown.active, shown.health.status], [false, 'disabled']);
  const received = await listener.wait(6);
  assert.ok(received.some((r) => JSON.parse(String(r.body)).error.code === 'WebhookDisabled'));
  const runs = await errand.runs(me.global_error_workflow_id, 6);
  const events = await Promise.all(runs.map(async (run) => (await errand.client.get(`/v1/runs/${run.id}`)).data.event));
  assert.ok(events.some((each) => each.error.code === 'WebhookDisabled'));

  receiver.answer(200);
  const count = receiver.received.length;
  await errand.send(emitter, { held: 1 });
  await errand.send(emitter, { held: 2 });
  const held = await deliveries(errand, webhook.id, 'held', 2);
  assert.match(held[0].why, /not active; this goes out when it is enabled again/);
  assert.equal(receiver.received.length, count);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { active: true });
  await deliveries(errand, webhook.id, 'delivered', 2);
  assert.equal((await health()).status, 'healthy');
  assert.deepEqual(
    receiver.received
      .slice(count)
      .map((r) => String(r.body))
      .sort(),
    ['{"held":1}', '{"held":2}'],
  );
});
