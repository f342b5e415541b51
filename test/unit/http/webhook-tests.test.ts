import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '../../../src/domain/delivery/delivery.ts';
import type { Probe } from '../../../src/domain/requests.ts';
import { DEFAULT_WEBHOOK_SETTINGS } from '../../../src/domain/resource.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';
import { addReadKey, startServer } from './harness.ts';
import { idOf, OTHER_ID, OWNER_ID, T0_MS, webhook } from './records.ts';

const WH1 = idOf('wh_', 1);
const PATH = `/v1/webhooks/${WH1}/test`;

const ATTEMPT: Attempt = {
  startedAtMs: T0_MS,
  tookMs: 12,
  timing: { dnsMs: 1, connectMs: 2, firstByteMs: 3 },
  outcome: 'answered',
  status: 200,
  responseHeaders: { 'content-type': 'text/plain' },
  responseBody: 'ok',
  detail: 'The receiver answered 200.',
  permanent: false,
  retryAfterMs: null,
};

function probe(state: Probe['state'], more: Partial<Attempt> = {}): Probe {
  const request = {
    method: 'POST',
    url: 'https://example.com/hook',
    headers: [
      ['content-type', 'application/json'],
      ['webhook-id', 'abc'],
      ['webhook-signature', 'v1,xyz'],
    ],
    body: Buffer.from('{"ä": 12345678901234567890}'),
  } as const;
  return { request, attempt: { ...ATTEMPT, ...more }, state };
}

test('a test answers with the whole exchange', async (t) => {
  const { call, seed } = await startServer(t, { actions: { testWebhook: () => probe('delivered') } });
  await seed.webhooks(webhook(1));
  const { json } = await call('POST', PATH);
  assert.deepEqual(withoutIso(json.data), {
    delivered: true,
    follows: 'It would be delivered.',
    request: {
      method: 'POST',
      url: 'https://example.com/hook',
      headers: [
        { name: 'content-type', value: 'application/json' },
        { name: 'webhook-id', value: 'abc' },
        { name: 'webhook-signature', value: 'v1,xyz' },
      ],
      body: '{"ä": 12345678901234567890}',
    },
    attempt: {
      n: 1,
      trigger: 'test',
      started_at_ms: T0_MS,
      took_ms: 12,
      timing: { dns_ms: 1, connect_ms: 2, first_byte_ms: 3 },
      outcome: 'answered',
      status: 200,
      response_headers: { 'content-type': 'text/plain' },
      response_body: 'ok',
      detail: 'The receiver answered 200.',
      retry_after_ms: null,
      permanent: false,
    },
  });
});

test('the event goes out byte for byte', async (t) => {
  const { call, calls, seed } = await startServer(t, { actions: { testWebhook: () => probe('delivered') } });
  await seed.webhooks(webhook(1));
  const headers = { 'content-type': 'application/json' };
  await call('POST', PATH, { body: '{"event": {"n":  1e400, "n": 2}}', headers });
  await call('POST', PATH, { body: '{"event": null}', headers });
  await call('POST', PATH);
  await call('POST', `${PATH}?event=${encodeURIComponent('[1,  2]')}`);
  const events = calls.map(({ args: [ownerId, id, event] }) => {
    assert.deepEqual([ownerId, id], [OWNER_ID, WH1]);
    return event === null ? null : Buffer.from(event as Uint8Array).toString();
  });
  assert.deepEqual(events, ['{"n":  1e400, "n": 2}', 'null', null, '[1,  2]']);
});

test('what would follow stands there in words', async (t) => {
  let answer = probe('delivered');
  const { call, seed } = await startServer(t, { actions: { testWebhook: () => answer } });
  await seed.webhooks(webhook(1), webhook(2, { settings: { ...DEFAULT_WEBHOOK_SETTINGS, retryDelaysMs: [90_000] } }));
  const said = async (is: Probe, n = 1) => {
    answer = is;
    const { data: shown } = (await call('POST', `/v1/webhooks/${idOf('wh_', n)}/test`)).json;
    assert.equal(shown.delivered, false);
    return shown.follows;
  };
  assert.match(await said(probe('retrying', { status: 500 })), /tried again after 5 s, give or take 10 %/);
  assert.match(await said(probe('retrying', { status: 500 }), 2), /after 1 min 30 s/);
  assert.match(await said(probe('retrying', { status: 429, retryAfterMs: 3_600_000 })), /for 1 h.*not count/);
  assert.match(await said(probe('exhausted', { status: 410 })), /WebhookGone.*disabled/);
  assert.match(await said(probe('exhausted', { outcome: 'forbidden', status: null })), /DeliveryRefused/);
  assert.match(await said(probe('exhausted', { status: 500 })), /DeliveryExhausted.*none/);
});

test('what cannot be tested is refused', async (t) => {
  const harness = await startServer(t, { actions: { testWebhook: () => probe('delivered') }, maxBodyBytes: 10 });
  const { call, calls, seed } = harness;
  await seed.webhooks(webhook(1), webhook(2, { ownerId: OTHER_ID }));
  assert.equal((await call('POST', `/v1/webhooks/${idOf('wh_', 2)}/test`)).status, 404);
  assert.equal((await call('POST', '/v1/webhooks/x/test')).status, 404);
  assert.equal((await call('POST', PATH, { json: { evnt: 1 } })).status, 400);
  assert.equal((await call('POST', `${PATH}?event={`)).status, 400);
  assert.equal((await call('POST', PATH, { json: { event: 'x'.repeat(10) } })).status, 413);
  assert.equal((await call('POST', PATH, { key: await addReadKey(harness) })).status, 403);
  assert.deepEqual(calls, []);
});
