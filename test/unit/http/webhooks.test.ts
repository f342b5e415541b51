import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../../src/domain/fault.ts';
import { startServer } from './harness.ts';
import { idOf, OWNER_ID, webhook } from './records.ts';

const WH1 = idOf('wh_', 1);
const SHOWN = {
  id: WH1,
  user_id: OWNER_ID,
  url: 'https://example.com/hook',
  name: null,
  description: null,
  active: true,
  headers: {},
  timeout_ms: null,
  retry: null,
  rate_limit: null,
  max_in_flight: null,
  ordered: false,
  signature: ['v1'],
  health: { status: 'healthy', failing_since_ms: null, exhausted_in_row: 0, paused_until_ms: null },
  public_keys: [],
  created_at: 1_782_000_000,
  updated_at: 1_782_000_000,
};

const ACTIONS = { createWebhook: () => webhook(1), updateWebhook: () => webhook(1), deleteWebhook: () => webhook(1) };

test('the secret is shown on creation only', async (t) => {
  const { call, seed } = await startServer(t, { actions: ACTIONS });
  await seed.webhooks(webhook(1));
  const { json } = await call('POST', '/v1/webhooks?url=https://example.com/hook&name=n&description=d');
  assert.deepEqual(json, { data: { ...SHOWN, secret: 'whsec_newest' } });
  const others = [
    await call('GET', `/v1/webhooks/${WH1}`),
    await call('PUT', `/v1/webhooks/${WH1}?active=false`),
    await call('DELETE', `/v1/webhooks/${WH1}`),
  ];
  for (const other of others) assert.deepEqual(other.json, { data: SHOWN });
  assert.doesNotMatch((await call('GET', '/v1/webhooks')).text, /whsec/);
});

test('webhooks are listed under both paths', async (t) => {
  const { call, seed } = await startServer(t);
  await seed.webhooks(webhook(1), webhook(2));
  const all = await call('GET', '/v1/webhooks');
  assert.equal(all.json.page_info.total_count, 2);
  assert.deepEqual((await call('GET', '/v1/users/me/webhooks')).json, all.json);
});

test('an address of the wrong shape is refused', async (t) => {
  const { call, calls } = await startServer(t, { actions: ACTIONS });
  const wrong = [
    '',
    'example.com',
    '/hook',
    'ftp://example.com',
    'javascript:alert(1)',
    'http://',
    'https://user:hunter2@example.com',
    'https://user@example.com',
    'https://exa mple.com',
    'https://example.com/a\nb',
    `https://example.com/${'x'.repeat(2048)}`,
  ];
  for (const url of wrong) {
    const { status, json, text } = await call('POST', '/v1/webhooks', { json: { url } });
    assert.equal(status, 400, url);
    assert.equal(json.errors[0].parameter, 'url');
    assert.doesNotMatch(text, /hunter2/);
  }
  assert.equal((await call('POST', '/v1/webhooks')).json.errors[0].message.startsWith('is missing'), true);
  assert.deepEqual(calls, []);
});

test('what the engine forbids answers 422', async (t) => {
  const createWebhook = () => Promise.reject(new Refusal('impossible', 'url is a private address'));
  const { call } = await startServer(t, { actions: { createWebhook } });
  const { status, json } = await call('POST', '/v1/webhooks?url=http://10.0.0.1');
  assert.deepEqual([status, json.error], [422, 'url is a private address']);
});

test('name and description may be null', async (t) => {
  const { call, calls } = await startServer(t, { actions: ACTIONS });
  await call('PUT', `/v1/webhooks/${WH1}`, { json: { name: null, description: null } });
  assert.deepEqual(calls[0]?.args, [OWNER_ID, WH1, { name: null, description: null }]);
});

test('a webhook that is gone answers 404', async (t) => {
  const { call } = await startServer(t);
  const { status, json } = await call('GET', `/v1/webhooks/${idOf('wh_', 7)}`);
  assert.equal(status, 404);
  assert.equal(json.error, `there is no webhook ${idOf('wh_', 7)}`);
  assert.equal((await call('GET', `/v1/webhooks/${idOf('wh_', 7)}/deliveries`)).status, 404);
});
