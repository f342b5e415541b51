import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../../src/domain/refusal.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';
import { startServer } from './harness.ts';
import { idOf, OWNER_ID, webhook } from './records.ts';

const WH1 = idOf('wh_', 1);
const SHOWN = {
  id: WH1,
  owner_id: OWNER_ID,
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
  assert.deepEqual(withoutIso(json), { data: { ...SHOWN, secret: 'whsec_newest' } });
  const others = [
    await call('GET', `/v1/webhooks/${WH1}`),
    await call('PUT', `/v1/webhooks/${WH1}?active=false`),
    await call('DELETE', `/v1/webhooks/${WH1}`),
  ];
  for (const other of others) assert.deepEqual(withoutIso(other.json), { data: SHOWN });
  assert.doesNotMatch((await call('GET', '/v1/webhooks')).text, /whsec/);
});

test('what the engine forbids answers 422', async (t) => {
  const createWebhook = () => Promise.reject(new Refusal('impossible', 'url is a private address'));
  const { call } = await startServer(t, { actions: { createWebhook } });
  const { status, json } = await call('POST', '/v1/webhooks?url=http://10.0.0.1');
  assert.deepEqual([status, json.error], [422, 'url is a private address']);
});
