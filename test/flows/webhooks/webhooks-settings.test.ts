// Settings of a webhook, each seen in what its receiver gets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { startGate } from '../../support/gate.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { attempted, createWebhook, deliveries, EMIT_BODY, newestDelivery } from '../../support/webhooks.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';

const newErrand = shareErrand();

const MINUTE_MS = 60_000;
const URL_OK = 'https://example.com/hook';

const DEFAULTS = {
  headers: {},
  timeout_ms: null,
  retry: null,
  rate_limit: null,
  max_in_flight: null,
  ordered: false,
  signature: ['v1'],
};

const CHOSEN = {
  headers: { authorization: 'Bearer hunter2', 'x-team': 'Zoë' },
  timeout_ms: 100,
  retry: { delays_ms: [1, 604_800_000] },
  rate_limit: { limit: 10_000, interval_ms: 86_400_000 },
  max_in_flight: 256,
  ordered: true,
  signature: ['v1', 'v1a'],
};

const settingsOf = (webhook: Json): Json =>
  Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, webhook[name]]));

test('settings stay as they were put', async () => {
  await using errand = await startErrand();
  const plain = await errand.client.post('/v1/webhooks', { url: URL_OK });
  assert.deepEqual(settingsOf(plain), DEFAULTS);
  assert.deepEqual(withoutIso(plain.health), {
    status: 'healthy',
    failing_since_ms: null,
    exhausted_in_row: 0,
    paused_until_ms: null,
  });
  const chosen = await errand.client.post('/v1/webhooks', { url: URL_OK, ...CHOSEN });
  assert.deepEqual(settingsOf(chosen), CHOSEN);
  const path = `/v1/webhooks/${chosen.id}`;
  assert.deepEqual(settingsOf(await errand.client.put(path, { name: 'n' })), CHOSEN, 'what is left out stays');
  await errand.restart();
  assert.deepEqual(settingsOf((await errand.client.get(path)).data), CHOSEN);
  const [listed] = (await errand.client.get('/v1/webhooks?limit=1')).data;
  assert.deepEqual(settingsOf(listed), CHOSEN);
  const [first, ...others] = Object.keys(CHOSEN);
  const reset = await errand.client.put(path, { [first ?? '']: null });
  assert.deepEqual(settingsOf(reset), { ...CHOSEN, headers: {} });
  const all = await errand.client.put(path, Object.fromEntries(others.map((name) => [name, null])));
  assert.deepEqual(settingsOf(all), DEFAULTS);
});

test('headers of the webhook are sent along', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver, {
    headers: { Authorization: 'Bearer hunter2', 'X-Team': 'a b' },
  });
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, { n: 1 });
  const [first] = await receiver.wait(1);
  assert.equal(first?.headers.authorization, 'Bearer hunter2');
  assert.equal(first?.headers['x-team'], 'a b');
  assert.match(String(first?.headers['webhook-signature']), /^v1,/);
  await errand.settled();
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { headers: { 'x-team': 'c' } });
  await errand.send(emitter, { n: 2 });
  const second = (await receiver.wait(2))[1];
  assert.equal(second?.headers.authorization, undefined);
  assert.equal(second?.headers['x-team'], 'c');
  const { client } = await withScopes(errand.client, ['read']);
  const shown = await client.request('GET', `/v1/webhooks/${webhook.id}`);
  assert.deepEqual(shown.json.data.headers, { 'x-team': '(hidden)' });
});

test('wrong settings are refused and change nothing', async () => {
  await using errand = await startErrand();
  const made = await errand.client.post('/v1/webhooks', { url: URL_OK, headers: { 'x-a': 'b' } });
  const path = `/v1/webhooks/${made.id}`;
  const wrong: [Json, string][] = [
    [{ timeout_ms: 60_001 }, 'timeout_ms'],
    [{ retry: { delays_ms: [604_800_001] } }, 'retry.delays_ms'],
    [{ rate_limit: { limit: 10_001, interval_ms: 1 } }, 'rate_limit.limit'],
    [{ max_in_flight: 257 }, 'max_in_flight'],
    [{ ordered: 1 }, 'ordered'],
    [{ signature: [] }, 'signature'],
    [{ signature: ['v1', 'v3'] }, 'signature'],
  ];
  for (const name of ['webhook-id', 'Errand-X', 'Host', 'content-length', 'Proxy-Authorization', 'a b', 'a\r\nb', '']) {
    wrong.push([{ headers: { [name]: 'v' } }, 'headers.']);
  }
  for (const value of ['a\r\nb: c', 'a\nb', 'a\0', 'Ā', ' a', 5])
    wrong.push([{ headers: { 'x-b': value } }, 'headers.x-b']);
  for (const [settings, parameter] of wrong) {
    assertProblem(await errand.client.request('PUT', path, { name: 'changed', ...settings }), 400, parameter);
    assertProblem(await errand.client.request('POST', '/v1/webhooks', { url: URL_OK, ...settings }), 400, parameter);
  }
  const page = await errand.client.get('/v1/webhooks');
  assert.equal(page.page_info.total_count, 1);
  assert.deepEqual(settingsOf(page.data[0]), settingsOf(made));
  assert.equal(page.data[0].name, null);
});

test('a webhook’s own schedule is kept to', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(500);
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver, { retry: { delays_ms: [7 * MINUTE_MS, 90 * MINUTE_MS] } });
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, { n: 1 });
  const { id } = await newestDelivery(errand, webhook.id);
  for (const [index, delayMs] of [7 * MINUTE_MS, 90 * MINUTE_MS].entries()) {
    const delivery = await attempted(errand, id, index + 1);
    const waitMs = delivery.next_attempt_at_ms - delivery.attempts.at(-1).started_at_ms;
    assert.ok(waitMs >= delayMs * 0.9 && waitMs <= delayMs * 1.1 + 2000, `${waitMs} ms instead of ${delayMs} ms`);
    assert.match(delivery.why, index === 0 ? /7 min in the schedule/ : /1 h 30 min in the schedule/);
    errand.forward(delayMs * 1.1 + 2000);
  }
  const [given] = await deliveries(errand, webhook.id, 'exhausted');
  assert.equal(given.attempts_made, 3);
  await errand.client.put(`/v1/webhooks/${webhook.id}`, { retry: { delays_ms: [] } });
  await errand.send(emitter, { n: 2 });
  const [once] = (await deliveries(errand, webhook.id, 'exhausted', 2)).filter((d) => d.id !== id);
  assert.equal(once.attempts_made, 1, 'no retries at all');
});

test('a webhook’s own timeout ends an attempt', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, { url: gate.url }, { timeout_ms: 100, retry: { delays_ms: [] } });
  await errand.subscribe(emitter.id, webhook.id);
  await errand.send(emitter, { n: 1 });
  const [delivery] = await deliveries(errand, webhook.id, 'exhausted');
  assert.equal(delivery.attempts[0].outcome, 'timeout');
  assert.equal(delivery.attempts[0].status, null);
});

test('no more are in flight than set', async () => {
  await using errand = await newErrand();
  await using gate = await startGate();
  await using wide = await startGate();
  const emitter = await errand.workflow(EMIT_BODY);
  for (const [receiver, max] of [
    [gate, 2],
    [wide, 12],
  ] as const) {
    const webhook = await createWebhook(errand, { url: receiver.url }, { max_in_flight: max });
    await errand.subscribe(emitter.id, webhook.id);
  }
  for (let n = 0; n < 14; n += 1) await errand.send(emitter, { n });
  await wide.wait(12);
  await gate.wait(2);
  assert.equal(gate.holding, 2);
  gate.letOne();
  await gate.wait(3);
  gate.open();
  wide.open();
  await gate.wait(14);
  await wide.wait(14);
  assert.equal(gate.most, 2);
  assert.ok(wide.most <= 12);
  await errand.settled();
});

test('settings of another owner do not exist', async () => {
  await using errand = await startErrand();
  const made = await errand.client.post('/v1/webhooks', { url: URL_OK, headers: { 'x-a': 'hunter2' } });
  const b = await createOwner(errand);
  const path = `/v1/webhooks/${made.id}`;
  const asked: [string, string, Json?][] = [
    ['GET', path],
    ['PUT', path, { ordered: true }],
    ['POST', `${path}/rotate_secret`, {}],
    ['POST', `${path}/test`, {}],
    ['POST', `${path}/resend`, { since: 0 }],
  ];
  for (const [method, at, body] of asked) {
    const answer = await b.client.request(method, at, body);
    assertProblem(answer, 404, made.id);
    assert.doesNotMatch(answer.text, /hunter2/);
  }
  assert.deepEqual(settingsOf((await errand.client.get(path)).data), settingsOf(made));
});
