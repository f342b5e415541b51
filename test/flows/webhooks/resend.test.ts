// Sending one delivery again by hand.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import {
  attempted,
  createWebhook,
  deliveries,
  EMIT_BODY,
  emitterWithWebhook,
  newestDelivery,
} from '../../support/webhooks.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

function assertWait(delivery: Json, delayMs: number): void {
  const waitMs = delivery.next_attempt_at_ms - delivery.attempts.at(-1).started_at_ms;
  assert.equal(delivery.state, 'retrying');
  assert.ok(waitMs >= delayMs * 0.9 && waitMs <= delayMs * 1.1 + 2000, `${waitMs} ms instead of ${delayMs} ms`);
}

const triggersOf = (delivery: Json): string => delivery.attempts.map((a: Json) => a.trigger).join(' ');

test('a given-up delivery is sent again as it was', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(500);
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver, { retry: { delays_ms: [] } });
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, '{"n":  12345678901234567890}');
  const [given] = await deliveries(errand, webhook.id, 'exhausted');
  const { secret } = await errand.client.post(`/v1/webhooks/${webhook.id}/rotate_secret?overlap_s=0`);
  receiver.answer(200);
  const resent = await errand.client.post(`/v1/deliveries/${given.id}/resend`);
  assert.deepEqual([resent.id, resent.state, resent.ended_at_ms], [given.id, 'retrying', null]);
  const [delivered] = await deliveries(errand, webhook.id, 'delivered');
  assert.equal(delivered.id, given.id);
  assert.deepEqual([delivered.attempts_made, triggersOf(delivered)], [2, 'event resend']);
  const [first, second] = await receiver.wait(2);
  assert.ok(first && second);
  assert.equal(second.headers['webhook-id'], first.headers['webhook-id']);
  assert.deepEqual([second.headers['errand-trigger'], second.headers['errand-attempt']], ['resend', '2']);
  assert.deepEqual(second.body, first.body);
  const headers = Object.fromEntries(Object.entries(second.headers).map(([name, value]) => [name, String(value)]));
  assert.doesNotThrow(() => new Webhook(secret).verify(second.body, headers), 'signed with today’s secret');
  const { data: ledger } = await errand.client.get('/v1/ledger');
  assert.deepEqual([ledger.deliveries.exhausted, ledger.deliveries.retrying], [0, 0]);
});

test('one that was over begins its schedule anew', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const [{ id }] = (await deliveries(errand, webhook.id, 'delivered')) as [Json];
  receiver.answer(500);
  await errand.client.post(`/v1/deliveries/${id}/resend`);
  const failed = await attempted(errand, id, 2);
  assertWait(failed, 5 * SECOND_MS);
  errand.forward(6 * SECOND_MS);
  const retried = await attempted(errand, id, 3);
  assertWait(retried, MINUTE_MS);
  assert.equal(triggersOf(retried), 'event resend retry');
});

test('one by hand replaces the one that was to come', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(500);
  const { emitter, webhook } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, { n: 1 });
  const { id } = await newestDelivery(errand, webhook.id);
  assertWait(await attempted(errand, id, 1), 5 * SECOND_MS);
  await errand.client.post(`/v1/deliveries/${id}/resend`);
  const failed = await attempted(errand, id, 2);
  assertWait(failed, MINUTE_MS);
  errand.forward(10 * SECOND_MS);
  await errand.send(emitter, { n: 2 });
  await receiver.wait(3);
  await errand.settled();
  assert.equal((await errand.client.get(`/v1/deliveries/${id}`)).data.attempts.length, 2);
  receiver.answer(200);
  await errand.restart();
  await errand.client.post(`/v1/deliveries/${id}/resend`);
  const done = await attempted(errand, id, 3);
  assert.deepEqual([done.state, triggersOf(done)], ['delivered', 'event resend resend']);
});

test('what cannot be sent again says why', async () => {
  await using errand = await startErrand();
  await using gate = await startGate();
  const { client } = errand;
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, { url: gate.url }, { timeout_ms: 60_000 });
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, { n: 1 });
  await gate.wait(1);
  const { id } = await newestDelivery(errand, webhook.id);
  const path = `/v1/deliveries/${id}/resend`;
  assertProblem(await client.request('POST', path), 409, id, 'being sent');
  gate.open();
  await deliveries(errand, webhook.id, 'delivered');
  await client.put(`/v1/webhooks/${webhook.id}`, { active: false });
  assertProblem(await client.request('POST', path), 409, id, 'not active');
  const b = await createOwner(errand);
  const reader = await withScopes(client, ['read']);
  assertProblem(await b.client.request('POST', path), 404, id);
  assertProblem(await reader.client.request('POST', path), 403, 'write');
  assertProblem(await client.request('POST', path, { now: true }), 400, 'now');
  assertProblem(await client.request('POST', '/v1/deliveries/dl_nothing/resend'), 404, 'dl_nothing');
  await client.delete(`/v1/webhooks/${webhook.id}`);
  assertProblem(await client.request('POST', path), 422, id, 'deleted');
  assert.equal(gate.asked.length, 1);
});
