// A test of a webhook: the whole exchange at once, and no trace of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { startErrand } from '../../support/errand.ts';
import { withScopes } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { startReceiver } from '../../support/receiver.ts';
import { createWebhook } from '../../support/webhooks.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';

test('a test shows what was really sent', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(202, { 'x-answer': 'yes' }, 'thanks');
  const webhook = await createWebhook(errand, receiver, { headers: { 'x-team': 'orders' }, signature: ['v1', 'v1a'] });
  const body = '{"event": {"n":  12345678901234567890, "ä": [1e400]}}';
  const shown = await errand.client.post(`/v1/webhooks/${webhook.id}/test`, body);
  const [got] = await receiver.wait(1);
  assert.ok(got);
  assert.equal(shown.delivered, true);
  assert.equal(shown.follows, 'It would be delivered.');
  assert.equal(shown.request.method, 'POST');
  assert.equal(shown.request.url, webhook.url);
  assert.equal(shown.request.body, '{"n":  12345678901234567890, "ä": [1e400]}');
  assert.equal(shown.request.body, String(got.body));
  const sent = Object.fromEntries(shown.request.headers.map((h: { name: string; value: string }) => [h.name, h.value]));
  assert.deepEqual(sent, { ...got.headers });
  assert.equal(sent['errand-trigger'], 'test');
  assert.equal(sent['x-team'], 'orders');
  const { attempt } = shown;
  assert.deepEqual([attempt.n, attempt.trigger, attempt.outcome, attempt.status], [1, 'test', 'answered', 202]);
  assert.equal(attempt.response_headers['x-answer'], 'yes');
  assert.equal(attempt.response_body, 'thanks');

  const own = await errand.client.post(`/v1/webhooks/${webhook.id}/test`);
  const second = (await receiver.wait(2))[1];
  const headers = Object.fromEntries(
    Object.entries(second?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  );
  assert.deepEqual(new Webhook(webhook.secret).verify(String(second?.body), headers), JSON.parse(own.request.body));
});

test('nothing of a test is kept', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  receiver.answer(500);
  const webhook = await createWebhook(errand, receiver);
  const path = `/v1/webhooks/${webhook.id}`;
  await errand.client.put(path, { active: false });
  const before = await errand.client.get('/v1/ledger');
  const probe = async (status: number, headers: Record<string, string> = {}) => {
    receiver.answer(status, headers);
    return errand.client.post(`${path}/test`);
  };
  const failed = await probe(500);
  assert.equal(failed.delivered, false);
  assert.match(failed.follows, /tried again after 5 s/);
  assert.match((await probe(410)).follows, /WebhookGone/);
  const putOff = await probe(429, { 'retry-after': '120' });
  assert.match(putOff.follows, /2 min.*not count/);
  assert.equal(putOff.attempt.retry_after_ms, 120_000);
  await errand.settled();
  assert.deepEqual(await errand.client.get('/v1/ledger'), before);
  assert.deepEqual((await errand.client.get(`${path}/deliveries`)).data, []);
  assert.deepEqual((await errand.client.get(`${path}/$errors/event_summaries`)).data, []);
  const { data } = await errand.client.get(path);
  assert.deepEqual(withoutIso(data.health), {
    status: 'disabled',
    failing_since_ms: null,
    exhausted_in_row: 0,
    paused_until_ms: null,
  });
});

test('a test that reaches nobody is an answer', async () => {
  await using errand = await startErrand();
  const receiver = await startReceiver();
  const { url } = receiver;
  await receiver[Symbol.asyncDispose]();
  const webhook = await createWebhook(errand, { url });
  const path = `/v1/webhooks/${webhook.id}/test`;
  const refused = await errand.client.post(path);
  assert.deepEqual([refused.attempt.outcome, refused.delivered], ['refused', false]);
  await errand.restart({ ERRAND_ALLOW_TARGETS: '' });
  const forbidden = await errand.client.post(path);
  assert.equal(forbidden.attempt.outcome, 'forbidden');
  assert.match(forbidden.follows, /DeliveryRefused/);
  const { client } = await withScopes(errand.client, ['read']);
  assertProblem(await client.request('POST', path), 403, 'write');
  assertProblem(await errand.client.request('POST', '/v1/webhooks/wh_x/test'), 404, 'wh_x');
  assertProblem(await errand.client.request('POST', path, { evnt: 1 }), 400, 'evnt');
  assertProblem(await errand.client.request('POST', path, { event: 'x'.repeat(600_000) }), 413);
});
