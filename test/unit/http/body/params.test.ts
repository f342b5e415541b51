import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addReadKey, KEY, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { webhook } from '../records.ts';

const URL_PARAMETER = 'url=https%3A%2F%2Fexample.com%2Fhook';
const JSON_TYPE = { 'content-type': 'application/json' };

async function started(t: Parameters<typeof startServer>[0]) {
  return startServer(t, { actions: { createWebhook: () => webhook(1), deleteWebhook: () => webhook(1) } });
}

test('unknown query parameters are ignored', async (t) => {
  const { call, calls } = await started(t);
  for (const name of [
    'nonsense',
    'org_id',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
    '',
    '_',
    'q',
    '状態',
    'x'.repeat(5000),
  ]) {
    const query = `${URL_PARAMETER}&${encodeURIComponent(name)}=1`;
    assert.equal((await call('POST', `/v1/webhooks?${query}`)).status, 200, name);
    assert.deepEqual(Object.keys(calls.pop()?.args[1] as object), ['url'], name);
  }
  for (const method of ['GET', 'HEAD', 'DELETE']) {
    assert.equal(
      (await call(method, `/v1/webhooks/${webhook(1).id}?nonsense=x`)).status,
      method === 'DELETE' ? 200 : 404,
    );
  }
  const many = Array.from({ length: 10_000 }, (_, n) => `n${n}`).join('&');
  assert.equal((await call('GET', `/v1/webhooks?${many}`)).status, 200);
});

test('a misspelt query parameter is refused, and the name that was meant suggested', async (t) => {
  const { call, calls } = await started(t);
  for (const [given, meant] of [
    ['stat', 'state'],
    ['sate', 'state'],
    ['State', 'state'],
    ['limt', 'limit'],
    ['knid', 'kind'],
    ['webhookId', 'webhook_id'],
    ['webhook-id', 'webhook_id'],
    ['limit[]', 'limit'],
  ] as const) {
    const { status, json } = await call('GET', `/v1/deliveries?offset=1&${encodeURIComponent(given)}=1`);
    assert.equal(status, 400, given);
    assert.deepEqual(
      json.errors.map((error: { parameter: string }) => error.parameter),
      [given],
    );
    assert.match(json.errors[0].message, /is not a parameter of this request; did you mean \w+\? known are /);
    assert.equal(/did you mean (\w+)\?/.exec(json.detail)?.[1], meant, json.detail);
  }
  for (const name of ['nmae', 'url[]', 'URL ', 'desciption']) {
    assert.equal((await call('POST', `/v1/webhooks?${URL_PARAMETER}&${encodeURIComponent(name)}=1`)).status, 400, name);
  }
  const member = await call('POST', '/v1/webhooks', { json: { url: 'https://example.com/hook', desciption: 'x' } });
  assert.match(member.json.detail, /"desciption": did you mean description\? known are url,/);
  assert.deepEqual(calls, []);
});

test('nobody learns parameters without a key that may use the route', async (t) => {
  const { call, ...server } = await started(t);
  assert.equal((await call('GET', '/v1/deliveries?stat=1', { key: null })).status, 401);
  const { status, text } = await call('POST', '/v1/webhooks?nmae=1', { key: await addReadKey(server) });
  assert.equal(status, 403);
  assert.doesNotMatch(text, /"nmae"|description/);
});

test('a body behind a misspelt parameter is not read', async (t) => {
  const { call, calls } = await started(t);
  const body = JSON.stringify({ url: 'x'.repeat(400_000) });
  for (let n = 0; n < 200; n++) {
    const { status } = await call('POST', '/v1/webhooks?nmae=x', { headers: JSON_TYPE, body });
    assert.equal(status, 400);
  }
  assert.equal((await call('POST', `/v1/webhooks?${URL_PARAMETER}`)).status, 200);
  assert.equal(calls.length, 1);
});

test('unknown body members are refused by name', async (t) => {
  const { call, calls } = await started(t);
  for (const name of ['nmae', '__proto__', 'constructor', 'hasOwnProperty']) {
    const body = `{"url":"https://example.com/hook",${JSON.stringify(name)}:{"a":1}}`;
    const { status, json } = await call('POST', '/v1/webhooks', { headers: JSON_TYPE, body });
    assert.equal(status, 400);
    assert.equal(json.errors[0].parameter, name);
    assert.match(json.errors[0].message, /known are url, name, description/);
  }
  const onDelete = await call('DELETE', `/v1/webhooks/${webhook(1).id}`, { json: { force: true } });
  assert.equal(onDelete.json.errors[0].parameter, 'force');
  assert.deepEqual(calls, []);
});

test('an empty body of JSON is fine', async (t) => {
  const { call, seed } = await started(t);
  await seed.webhooks(webhook(1));
  const headers = JSON_TYPE;
  assert.equal((await call('POST', `/v1/webhooks?${URL_PARAMETER}`, { headers })).status, 200);
  assert.equal((await call('GET', '/v1/webhooks', { headers })).status, 200);
  assert.equal((await call('DELETE', `/v1/webhooks/${webhook(1).id}`, { headers })).status, 200);
  assert.equal((await call('HEAD', '/v1/webhooks', { headers })).status, 200);
});

test('broken bodies are 400 in words', async (t) => {
  const { call } = await started(t);
  const post = (body: string | Uint8Array) => call('POST', '/v1/webhooks', { headers: JSON_TYPE, body });
  for (const [body, words] of [
    ['{"url":', /not valid JSON/],
    ['[1]', /must be a JSON object.* an array/],
    ['"text"', /must be a JSON object.* a string/],
    ['null', /must be a JSON object.* null/],
    [Buffer.from([0x7b, 0xff]), /not valid UTF-8/],
  ] as const) {
    const { status, json } = await post(body);
    assert.equal(status, 400);
    assert.match(json.error, words);
  }
});

test('bodies that are not JSON answer 415', async (t) => {
  const { call } = await started(t);
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
    const { status } = await call('POST', '/v1/webhooks', { headers: { 'content-type': type }, body: 'url=x' });
    assert.equal(status, 415, type);
  }
  for (const type of ['', 'json']) {
    const none = await call('POST', '/v1/webhooks', { headers: { 'content-type': type }, body: '{}' });
    assert.equal(none.status, 415, type);
    assert.match(none.json.detail, /^The Content-Type header is no media type; a body here is application\/json$/);
  }
  const gzip = { ...JSON_TYPE, 'content-encoding': 'gzip' };
  assert.equal((await call('POST', '/v1/webhooks', { headers: gzip, body: 'x' })).status, 415);
});

test('a body without content type is JSON', async (t) => {
  const { port, calls } = await started(t);
  const raw = connect(t, port);
  const body = '{"url":"https://example.com/hook"}';
  raw.send(
    `POST /v1/webhooks HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  assert.equal((await raw.answer()).status, 200);
  assert.deepEqual(calls[0]?.args[1], { url: 'https://example.com/hook' });
});

test('a parameter given twice is refused', async (t) => {
  const { call } = await started(t);
  const { status, json } = await call('POST', `/v1/webhooks?${URL_PARAMETER}&name=a&name=b`);
  assert.equal(status, 400);
  assert.match(json.error, /name must be a string .* but was an array of 2/);
});

test('wrong values are named with what is right', async (t) => {
  const { call } = await started(t);
  const json = { url: 7, name: 'n'.repeat(256), description: true };
  const answer = await call('POST', '/v1/webhooks', { json });
  assert.equal(answer.status, 400);
  const byName = new Map(
    answer.json.errors.map((e: { parameter: string; message: string }) => [e.parameter, e.message]),
  );
  assert.match(String(byName.get('url')), /must be an http or https address .* but was 7/);
  assert.match(String(byName.get('name')), /at most 255 characters or null, but was "n+… \(256 characters\)/);
  assert.match(String(byName.get('description')), /but was true/);
});

test('a long value is shown by whole characters', async (t) => {
  const { call } = await started(t);
  const { json } = await call('POST', '/v1/webhooks', {
    json: { url: 'https://example.com/', name: '😀'.repeat(256) },
  });
  assert.match(json.error, /but was "(😀)+… \(256 characters\)$/u);
});

test('members that nest too deep are refused', async (t) => {
  const { call } = await started(t);
  const deep = '['.repeat(40_000) + ']'.repeat(40_000);
  const body = `{"component_code":"x","configured_props":{"a":${deep}}}`;
  const { status, json } = await call('POST', '/v1/sources', { headers: JSON_TYPE, body });
  assert.equal(status, 400);
  assert.equal(json.errors[0].parameter, 'configured_props');
});

test('a body beyond eight megabytes answers 413', async (t) => {
  const { port } = await started(t);
  const raw = connect(t, port);
  const headers = `host: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: ${8 * 1024 * 1024 + 1}`;
  raw.send(`POST /v1/webhooks HTTP/1.1\r\n${headers}\r\n\r\n{`);
  const { status, head } = await raw.answer();
  assert.equal(status, 413);
  assert.match(head, /connection: close/);
  raw.end();
  await raw.closed();
});
