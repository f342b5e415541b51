import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutIso } from '../../support/wire/iso-times.ts';
import { OTHER_KEY, startServer } from './harness.ts';
import { idOf, OTHER_ID, OWNER_ID, T0_MS, webhook } from './records.ts';

const WH1 = idOf('wh_', 1);
const ROTATE = `/v1/webhooks/${WH1}/rotate_secret`;
const SECRETS = [
  { secret: 'whsec_newest', publicKey: null, untilMs: null },
  { secret: 'whsec_older', publicKey: null, untilMs: T0_MS + 1 },
  { secret: 'whsk_newest', publicKey: 'whpk_newest', untilMs: null },
  { secret: 'whsk_older', publicKey: 'whpk_older', untilMs: T0_MS + 1 },
  { secret: 'whsk_over', publicKey: 'whpk_over', untilMs: T0_MS },
];
const SIGNING = webhook(1, { secrets: SECRETS });
const PUBLIC = [
  { public_key: 'whpk_newest', until_ms: null },
  { public_key: 'whpk_older', until_ms: T0_MS + 1 },
];

test('a rotation answers with the new secret', async (t) => {
  const { call, calls, seed } = await startServer(t, { actions: { rotateSecret: () => SIGNING } });
  await seed.webhooks(SIGNING);
  const { json, text } = await call('POST', ROTATE);
  assert.equal(json.data.secret, 'whsec_newest');
  assert.deepEqual(withoutIso(json.data.public_keys), PUBLIC);
  assert.doesNotMatch(text, /whsk_|whsec_older|whpk_over/);
  await call('POST', `${ROTATE}?overlap_s=0`);
  await call('POST', ROTATE, { json: { overlap_s: 2_592_000 } });
  assert.deepEqual(
    calls.map(({ args }) => args),
    [86_400_000, 0, 2_592_000_000].map((overlapMs) => [OWNER_ID, WH1, overlapMs]),
  );
});

test('public keys are listed with their webhook', async (t) => {
  const { call, seed } = await startServer(t);
  await seed.webhooks(SIGNING, webhook(2), webhook(3, { secrets: SECRETS.slice(2, 3) }));
  await seed.webhooks(webhook(4, { ownerId: OTHER_ID, secrets: SECRETS }));
  const { json } = await call('GET', '/v1/webhook_keys');
  const shown = json.data.map((key: Record<string, unknown>) => [key.webhook_id, key.public_key, key.until_ms]);
  assert.deepEqual(shown[0], [idOf('wh_', 3), 'whpk_newest', null]);
  assert.deepEqual(shown.slice(1).sort(), [
    [WH1, 'whpk_newest', null],
    [WH1, 'whpk_older', T0_MS + 1],
  ]);
  const [first, second, third] = json.data;
  assert.equal((await call('GET', `/v1/webhook_keys?webhook_id=${WH1}`)).json.page_info.total_count, 2);
  assert.deepEqual((await call('GET', `/v1/webhook_keys?limit=1&after=${first.id}`)).json.data, [second]);
  assert.deepEqual((await call('GET', `/v1/webhook_keys?before=${third.id}`)).json.data, [first, second]);
  assert.deepEqual((await call('GET', '/v1/webhook_keys?limit=1&include=public_key')).json.data, [
    { public_key: 'whpk_newest' },
  ]);
});

test('public keys of many webhooks are all listed', async (t) => {
  const { call, seed } = await startServer(t);
  for (let n = 1; n <= 250; n += 1) await seed.webhooks(webhook(n, { secrets: SECRETS.slice(2, 3) }));
  const { json } = await call('GET', '/v1/webhook_keys');
  assert.deepEqual([json.page_info.total_count, json.page_info.count], [250, 100]);
  assert.equal(json.data[0].webhook_id, idOf('wh_', 250));
});

test('keys of another owner do not exist', async (t) => {
  const { call, seed } = await startServer(t);
  await seed.webhooks(SIGNING);
  for (const path of ['/v1/webhook_keys', `/v1/webhook_keys?webhook_id=${WH1}`]) {
    assert.deepEqual((await call('GET', path, { key: OTHER_KEY })).json.data, []);
  }
  for (const cursor of ['nonsense', WH1, `${WH1}.xyz`]) {
    assert.equal((await call('GET', `/v1/webhook_keys?after=${cursor}`)).status, 400);
  }
});
