import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { HEALTHY, type WebhookHealth } from '../../../src/domain/delivery/health.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { DEFAULT_WEBHOOK_SETTINGS, type Webhook, type WebhookSettings } from '../../../src/domain/resource.ts';
import { webhookToWire } from '../../../src/http/wire/webhooks.ts';
import { tableOf } from '../../demo/markdown.ts';
import { addReadKey, startServer } from './harness.ts';
import { idOf, OWNER_ID, T0_MS, webhook } from './records.ts';

const WH1 = idOf('wh_', 1);
const PATH = `/v1/webhooks/${WH1}`;
const ACTIONS = { createWebhook: () => webhook(1), updateWebhook: () => webhook(1) };

const SETTINGS: WebhookSettings = {
  headers: { authorization: 'Bearer abc', 'x-team': 'orders' },
  timeoutMs: 60_000,
  retryDelaysMs: [1000, 0],
  rateLimit: { limit: 10, intervalMs: 1000 },
  maxInFlight: 256,
  ordered: true,
  signature: ['v1', 'v1a'],
};

const ON_THE_WIRE = {
  headers: { Authorization: 'Bearer abc', 'x-team': 'orders' },
  timeout_ms: 60_000,
  retry: { delays_ms: [1000, 0] },
  rate_limit: { limit: 10, interval_ms: 1000 },
  max_in_flight: 256,
  ordered: true,
  signature: ['v1a', 'v1'],
};

test('all settings reach the engine as asked', async (t) => {
  const { call, calls } = await startServer(t, { actions: ACTIONS });
  const url = 'https://example.com/hook';
  assert.equal((await call('POST', '/v1/webhooks', { json: { url, ...ON_THE_WIRE } })).status, 200);
  assert.deepEqual(calls[0]?.args, [OWNER_ID, { url, settings: SETTINGS }]);
  await call('PUT', PATH, { json: ON_THE_WIRE });
  assert.deepEqual(calls[1]?.args, [OWNER_ID, WH1, { settings: SETTINGS }]);
});

test('null resets and absence leaves alone', async (t) => {
  const { call, calls } = await startServer(t, { actions: ACTIONS });
  const names = Object.keys(ON_THE_WIRE);
  await call('PUT', PATH, { json: Object.fromEntries(names.map((name) => [name, null])) });
  await call('PUT', PATH, { json: { name: 'n' } });
  await call('PUT', PATH, { json: { ordered: false } });
  await call('PUT', `${PATH}?signature=v1a&max_in_flight=2&headers=${encodeURIComponent('{"x-a":"b"}')}`);
  assert.deepEqual(
    calls.map(({ args }) => args[2]),
    [
      { settings: DEFAULT_WEBHOOK_SETTINGS },
      { name: 'n' },
      { settings: { ordered: false } },
      { settings: { headers: { 'x-a': 'b' }, maxInFlight: 2, signature: ['v1a'] } },
    ],
  );
});

test('a key that only reads learns no header', async (t) => {
  const harness = await startServer(t);
  const key = await addReadKey(harness);
  await harness.seed.webhooks(webhook(1, { settings: SETTINGS }));
  for (const path of [PATH, '/v1/webhooks', '/v1/users/me/webhooks']) {
    const { text, json } = await harness.call('GET', path, { key });
    assert.doesNotMatch(text, /abc|orders/);
    const shown = [json.data].flat()[0];
    assert.deepEqual(shown.headers, { authorization: '(hidden)', 'x-team': '(hidden)' });
  }
  assert.equal((await harness.call('PUT', PATH, { key, json: { ordered: true } })).status, 403);
});

/** A wrong setting, the parameter that is named, and what is said of it. */
const WRONG: readonly (readonly [object, string, RegExp])[] = [
  [{ timeout_ms: 99 }, 'timeout_ms', /from 100 to 60000.* 99/],
  [{ timeout_ms: 60_001 }, 'timeout_ms', /60001/],
  [{ timeout_ms: '5s' }, 'timeout_ms', /"5s"/],
  [{ timeout_ms: 100.5 }, 'timeout_ms', /100\.5/],
  [{ retry: [] }, 'retry', /an object or null, but was an array of 0/],
  [{ retry: {} }, 'retry.delays_ms', /missing.*up to 32 delays/],
  [{ retry: { delays_ms: [1, -1] } }, 'retry.delays_ms[1]', /from 0 to 604800000, but was -1/],
  [{ retry: { delays_ms: [LIMITS.maxRetryDelayMs + 1] } }, 'retry.delays_ms[0]', /604800001/],
  [{ retry: { delays_ms: Array(33).fill(1) } }, 'retry.delays_ms', /up to 32 delays.*an array of 33/],
  [{ retry: { delays_ms: [1], base: 2 } }, 'retry.base', /not a known member.*delays_ms/],
  [{ rate_limit: { limit: 0, interval_ms: 1 } }, 'rate_limit.limit', /from 1 to 10000, but was 0/],
  [{ rate_limit: { limit: 1 } }, 'rate_limit.interval_ms', /missing/],
  [{ rate_limit: { limit: 1, interval_ms: 86_400_001 } }, 'rate_limit.interval_ms', /86400001/],
  [{ rate_limit: 5 }, 'rate_limit', /an object or null, but was 5/],
  [{ max_in_flight: 0 }, 'max_in_flight', /from 1 to 256.* 0/],
  [{ max_in_flight: 257 }, 'max_in_flight', /257/],
  [{ ordered: 'yes' }, 'ordered', /true or false or null, but was "yes"/],
  [{ signature: [] }, 'signature', /each once.*an array of 0/],
  [{ signature: ['v1', 'v1'] }, 'signature', /each once.*\["v1","v1"\]/],
  [{ signature: ['v2'] }, 'signature[0]', /"v1", "v1a", but was "v2"/],
  [{ signature: 'v1' }, 'signature', /but was "v1"/],
  [{ headers: [] }, 'headers', /an object of at most 32 header names and values/],
  [{ headers: { 'x-a': 5 } }, 'headers.x-a', /a string, but was a number/],
  [{ headers: 'hunter2' }, 'headers', /an object of at most 32 header names and values/],
  [{ headers: { 'x\na': 5 } }, 'headers.x\na', /no header name/],
  [{ headers: { 'x-a': 'hunter2\r\nx-b: c' } }, 'headers.x-a', /U\+000D/],
  [{ headers: { 'Webhook-Id': 'hunter2' } }, 'headers.Webhook-Id', /cannot be set/],
  [{ headers: { 'X-A': 'hunter2', 'x-a': 'b' } }, 'headers.x-a', /given twice/],
  [{ headers: { 'x-a': `hunter2${'x'.repeat(4096)}` } }, 'headers.x-a', /at most 4096/],
  [{ headers: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`x-${n}`, ''])) }, 'headers', /at most 32/],
];

test('every wrong setting is named with its value', async (t) => {
  const { call, calls } = await startServer(t, { actions: ACTIONS });
  for (const [wrong, parameter, says] of WRONG) {
    for (const [method, path] of [
      ['POST', '/v1/webhooks?url=https://example.com'],
      ['PUT', PATH],
    ] as const) {
      const { status, json, text } = await call(method, path, { json: wrong });
      const what = `${method} ${JSON.stringify(wrong).slice(0, 60)}: ${text}`;
      assert.equal(status, 400, what);
      assert.equal(json.errors[0].parameter, parameter, what);
      assert.match(json.errors[0].message, says, what);
      assert.doesNotMatch(text, /hunter2/, 'a value may be a credential');
    }
  }
  assert.deepEqual(calls, []);
});

test('a header named like a prototype is only a name', async (t) => {
  const { call, calls } = await startServer(t, { actions: ACTIONS });
  const body = '{"headers": {"__proto__": "a", "constructor": "b"}}';
  assert.equal((await call('PUT', PATH, { body, headers: { 'content-type': 'application/json' } })).status, 200);
  const input = calls[0]?.args[2] as { settings: WebhookSettings };
  assert.deepEqual(Object.entries(input.settings.headers), [
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});

test('health tells how the webhook stands', () => {
  const failing = { failingSinceMs: T0_MS - 5, exhaustedInRow: 2, noticedAtMs: null, pausedUntilMs: T0_MS };
  const paused = { ...failing, failingSinceMs: null, pausedUntilMs: T0_MS + 1 };
  const shown = (health: WebhookHealth, more: Partial<Webhook> = {}) =>
    webhookToWire(webhook(1, more), { health, nowMs: T0_MS, scopes: [] }).health;
  const well = { status: 'healthy', failing_since_ms: null, exhausted_in_row: 0, paused_until_ms: null };
  assert.deepEqual(
    [shown(HEALTHY), shown(failing), shown(paused), shown(failing, { active: false })],
    [
      well,
      { ...well, status: 'failing', failing_since_ms: T0_MS - 5, exhausted_in_row: 2 },
      { ...well, status: 'paused', exhausted_in_row: 2, paused_until_ms: T0_MS + 1 },
      { ...well, status: 'disabled', failing_since_ms: T0_MS - 5, exhausted_in_row: 2 },
    ],
  );
});

test('the documented settings are the settings', async () => {
  const text = await readFile(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
  const documented = tableOf(text, 'Setting').map(([name, value]) => [name, value]);
  const { headers, ordered, signature } = DEFAULT_WEBHOOK_SETTINGS;
  assert.deepEqual(documented, [
    ['`headers`', `\`${JSON.stringify(headers)}\``],
    ['`timeout_ms`', String(LIMITS.attemptTimeoutMs)],
    ['`retry`', `${LIMITS.retryDelaysMs.length} retries`],
    ['`rate_limit`', 'none'],
    ['`max_in_flight`', String(LIMITS.inFlightPerWebhook)],
    ['`ordered`', String(ordered)],
    ['`signature`', `\`${JSON.stringify(signature)}\``],
  ]);
});
