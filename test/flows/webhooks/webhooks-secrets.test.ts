// Secrets of a webhook: what signs, what verifies, and for how long after a rotation.

import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../../src/verifier/verify.ts';
import type { Json } from '../../support/client.ts';
import { startErrand } from '../../support/errand.ts';
import { createOwner, withScopes } from '../../support/owners.ts';
import { assertProblem } from '../../support/problem.ts';
import { type Received, startReceiver } from '../../support/receiver.ts';
import { shareErrand } from '../../support/shared-errand.ts';
import { createWebhook, EMIT_BODY } from '../../support/webhooks.ts';

const newErrand = shareErrand();

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Whether the standard package takes it; checked at the time of the request, wherever the test's clock stands. */
function takes(secret: string, { headers, body }: Received): boolean {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const given = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const verifier = new Webhook(secret);
  const signed = verifier.sign(given['webhook-id'] ?? '', new Date(Number(given['webhook-timestamp']) * 1000), body);
  return (given['webhook-signature'] ?? '').split(' ').includes(signed);
}

function schemes({ headers }: Received): string {
  return String(headers['webhook-signature'])
    .split(' ')
    .map((entry) => entry.split(',')[0])
    .join(' ');
}

test('old and new secret sign during the overlap', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver);
  await errand.subscribe(emitter.id, webhook.id);
  const path = `/v1/webhooks/${webhook.id}/rotate_secret`;
  const first = webhook.secret;
  const { secret: second } = await errand.client.post(path);
  assert.match(second, /^whsec_/);
  assert.notEqual(second, first);
  await errand.send(emitter, { n: 1 });
  const [both] = (await receiver.wait(1)) as [Received];
  assert.ok(takes(first, both) && takes(second, both));
  assert.equal(schemes(both), 'v1 v1');
  const newest = new Webhook(second).sign(
    String(both.headers['webhook-id']),
    new Date(Number(both.headers['webhook-timestamp']) * 1000),
    both.body,
  );
  assert.ok(String(both.headers['webhook-signature']).startsWith(newest), 'the newest first');
  // By the package's own words, too.
  const headers = Object.fromEntries(Object.entries(both.headers).map(([name, value]) => [name, String(value)]));
  assert.deepEqual(new Webhook(first).verify(both.body, headers), { n: 1 });

  errand.forward(DAY_MS - HOUR_MS);
  await errand.restart();
  const data = (await errand.client.get(`/v1/workflows/${emitter.id}`)).data;
  await errand.send(data, { n: 2 });
  const still = (await receiver.wait(2))[1] as Received;
  assert.ok(takes(first, still) && takes(second, still), '24 hours when nothing is said');
  errand.forward(2 * HOUR_MS);
  await errand.send(data, { n: 3 });
  const after = (await receiver.wait(3))[2] as Received;
  assert.ok(!takes(first, after) && takes(second, after));
  assert.equal(schemes(after), 'v1');
});

test('an overlap of nothing ends the old at once', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver);
  await errand.subscribe(emitter.id, webhook.id);
  const path = `/v1/webhooks/${webhook.id}/rotate_secret`;
  const rotated = await errand.client.post(`${path}?overlap_s=0`);
  assert.equal(rotated.id, webhook.id);
  await errand.send(emitter, { n: 1 });
  const [got] = (await receiver.wait(1)) as [Received];
  assert.ok(!takes(webhook.secret, got) && takes(rotated.secret, got));
  for (const overlap of [-1, 2_592_001, 1.5, 'day', null]) {
    assertProblem(await errand.client.request('POST', path, { overlap_s: overlap }), 400, 'overlap_s', '2592000');
  }
  const { client } = await withScopes(errand.client, ['read']);
  assertProblem(await client.request('POST', path), 403, 'write');
  assert.equal((await client.request('GET', '/v1/webhook_keys')).status, 200);
  assertProblem(await errand.client.request('POST', '/v1/webhooks/wh_x/rotate_secret'), 404, 'wh_x');
  const shown = await errand.client.request('GET', `/v1/webhooks/${webhook.id}`);
  assert.doesNotMatch(shown.text, /whsec_|whsk_/);
});

test('too many earlier secrets stop a rotation', async () => {
  await using errand = await newErrand();
  const webhook = await errand.client.post('/v1/webhooks', { url: 'https://example.com/' });
  const path = `/v1/webhooks/${webhook.id}/rotate_secret`;
  for (let n = 0; n < 9; n += 1) await errand.client.post(path);
  assertProblem(await errand.client.request('POST', path), 409, webhook.id);
  await errand.client.post(`${path}?overlap_s=0`);
});

test('v1a is verified with the public key', async () => {
  await using errand = await newErrand();
  await using receiver = await startReceiver();
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, receiver, { signature: ['v1a'] });
  await errand.subscribe(emitter.id, webhook.id);
  const [{ public_key: publicKey, until_ms: untilMs }] = webhook.public_keys;
  assert.match(publicKey, /^whpk_/);
  assert.equal(untilMs, null);
  await errand.send(emitter, { text: 'ünïcode' });
  const [got] = (await receiver.wait(1)) as [Received];
  assert.equal(schemes(got), 'v1a');
  const { headers, body } = got;
  assert.ok(verifyWebhook({ secrets: publicKey, headers, body }).ok);
  assert.ok(!verifyWebhook({ secrets: publicKey, headers, body: `${body} ` }).ok);
  assert.ok(!verifyWebhook({ secrets: webhook.secret, headers, body }).ok);
  // And by hand, with nothing of ours.
  const x = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('base64url');
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), body]);
  const signature = Buffer.from(String(headers['webhook-signature']).slice('v1a,'.length), 'base64');
  assert.ok(verify(null, signed, key, signature));

  await errand.client.put(`/v1/webhooks/${webhook.id}`, { signature: ['v1', 'v1a'] });
  await errand.send(emitter, { n: 2 });
  const second = (await receiver.wait(2))[1] as Received;
  assert.equal(schemes(second), 'v1 v1a');
  assert.ok(takes(webhook.secret, second), 'the secret of the creation');
  assert.ok(verifyWebhook({ secrets: publicKey, headers: second.headers, body: second.body }).ok);
});

test('public keys are listed through a rotation', async () => {
  await using errand = await startErrand();
  const { client } = errand;
  const url = 'https://example.com/';
  const plain = await client.post('/v1/webhooks', { url });
  const one = await client.post('/v1/webhooks', { url, signature: ['v1a'] });
  const two = await client.post('/v1/webhooks', { url, signature: ['v1', 'v1a'] });
  const shown = async (query = ''): Promise<Json[]> => (await client.get(`/v1/webhook_keys${query}`)).data;
  assert.deepEqual(
    (await shown()).map((key) => [key.webhook_id, key.public_key]),
    [two, one].map((webhook) => [webhook.id, webhook.public_keys[0].public_key]),
  );
  assert.deepEqual(await shown(`?webhook_id=${plain.id}`), []);
  const rotated = await client.post(`/v1/webhooks/${one.id}/rotate_secret`, { overlap_s: 3600 });
  const [newest, old] = rotated.public_keys;
  assert.equal(old.public_key, one.public_keys[0].public_key);
  assert.ok(newest.until_ms === null && old.until_ms > Date.now());
  assert.equal((await shown(`?webhook_id=${one.id}`)).length, 2);
  errand.forward(2 * HOUR_MS);
  assert.deepEqual(
    await shown(`?webhook_id=${one.id}&exclude=id`),
    [{ webhook_id: one.id, ...newest }],
    'what signs no more is gone',
  );
  const b = await createOwner(errand);
  assert.deepEqual((await b.client.get(`/v1/webhook_keys?webhook_id=${one.id}`)).data, []);
  assert.deepEqual((await b.client.get('/v1/webhook_keys')).data, []);
  assert.doesNotMatch((await client.request('GET', '/v1/webhook_keys')).text, /whsk_|whsec_/);
});
