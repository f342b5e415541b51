// The service's own addresses: health, readiness, metrics, pages, and what every answer carries.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startErrand } from '../support/errand.ts';
import { startReceiver } from '../support/receiver.ts';
import { shareErrand } from '../support/shared-errand.ts';
import { emitterWithWebhook } from '../support/webhooks.ts';

const newErrand = shareErrand();

test('every answer carries a request id', async () => {
  await using errand = await newErrand();
  const ids = new Set<string>();
  const paths = ['/healthz', '/docs', '/nothing', '/v1/users/me', '/v1/nothing', '/v1/workflows/p_x', '/e/unknown'];
  for (const path of paths) {
    const { headers } = await fetch(errand.url + path);
    const id = headers.get('x-request-id');
    assert.ok(id, path);
    ids.add(id);
  }
  assert.equal(ids.size, paths.length);
});

test('metrics are not for the public', async () => {
  await using errand = await startErrand();
  const proxied: Record<string, string>[] = [
    {},
    { 'x-forwarded-for': '203.0.113.9' },
    { forwarded: 'for=203.0.113.9' },
  ];
  for (const headers of proxied) {
    const response = await fetch(`${errand.url}/metrics`, { headers });
    assert.equal(response.status, 401);
    assert.doesNotMatch(await response.text(), /# HELP/);
  }
  assert.equal((await errand.client.request('GET', '/metrics')).status, 200, 'the first key has the scope admin');
  const { data } = await errand.client
    .request('POST', '/v1/keys', { label: 'x', scopes: ['read', 'write'] })
    .then(({ json }) => json);
  const answer = await fetch(`${errand.url}/metrics`, { headers: { authorization: `Bearer ${data.api_key}` } });
  assert.equal(answer.status, 403, 'they are of all owners');
});

test('metrics count what has happened', async () => {
  await using errand = await startErrand();
  await using receiver = await startReceiver();
  const { emitter } = await emitterWithWebhook(errand, receiver);
  await errand.send(emitter, {});
  await receiver.wait(1);
  await errand.settled();
  const answer = await errand.client.request('GET', '/metrics');
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=/);
  const lines = answer.text.split('\n').filter((line) => line !== '');
  assert.ok(
    lines.some((line) => /^errand_\w+(\{.*\})? [1-9]/.test(line)),
    'a metric of ours above zero',
  );
  for (const line of lines) {
    assert.match(line, /^(# (HELP|TYPE) \w+ .+|[a-zA-Z_:][\w:]*(\{.*\})? [-+0-9.eEInfNa]+)$/);
  }
  assert.ok(!answer.text.includes(emitter.id) && !answer.text.includes(errand.client.key));
});

test('pages for people answer in html', async () => {
  await using errand = await newErrand();
  const workflow = await errand.workflow('export default () => 1;');
  const editor = new URL(workflow.editor_url);
  assert.match(editor.pathname, new RegExp(`[/-]${workflow.id}/edit$`));
  assert.equal(editor.origin, errand.url);
  for (const path of ['/', '/docs', '/docs/errors', editor.pathname]) {
    const response = await fetch(errand.url + path);
    assert.equal(response.status, 200, path);
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/, path);
    const text = await response.text();
    assert.match(text, /^<!doctype html>/i);
    assert.match(text, /<title>[^<]+<\/title>/);
    assert.match(text, /<html[^>]* lang="en"/, path);
  }
});

test('problem types lead to the documentation', async () => {
  await using errand = await newErrand();
  const answer = await errand.client.request('GET', '/v1/workflows/p_nothing');
  assert.equal(answer.status, 404);
  assert.equal(answer.json.error, answer.json.detail);
  const type = new URL(answer.json.type, errand.url);
  const page = await fetch(type);
  assert.equal(page.status, 200);
  assert.ok((await page.text()).includes(`id="${type.hash.slice(1)}"`), `an anchor for ${type.hash}`);
});

test('there is no v1 without a key', async () => {
  await using errand = await newErrand();
  const tries: [string, Record<string, string>][] = [
    ['/v1/users/me', {}],
    ['/v1/workflows', { authorization: 'Bearer' }],
    ['/v1/workflows', { authorization: 'Bearer wrong-key-wrong-key-wrong' }],
    ['/v1/workflows', { authorization: `Basic ${errand.client.key}` }],
    ['/v1/ledger', { authorization: errand.client.key }],
    ['/v1/nothing', {}],
  ];
  for (const [path, headers] of tries) {
    const response = await fetch(errand.url + path, { headers });
    assert.equal(response.status, 401, path);
    assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/);
  }
});

test('the wrong method names the right ones', async () => {
  await using errand = await newErrand();
  for (const [method, path] of [
    ['PATCH', '/v1/workflows'],
    ['DELETE', '/v1/ledger'],
    ['POST', '/healthz'],
  ] as const) {
    const answer = await errand.client.request(method, path);
    assert.equal(answer.status, 405, `${method} ${path}`);
    assert.match(answer.headers.get('allow') ?? '', /GET/);
  }
});
