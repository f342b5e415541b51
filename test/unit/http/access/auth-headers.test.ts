// What a stranger may put into the head of a request in the place of a key.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addReadKey, KEY, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';

const head = (method: string, path: string, ...lines: string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'host: x', ...lines, '', ''].join('\r\n');

test('only one well-formed Authorization header is a key', async (t) => {
  const { port } = await startServer(t);
  const good = `authorization: Bearer ${KEY}`;
  const ask = async (...lines: string[]): Promise<number> => {
    const raw = connect(t, port);
    raw.send(head('GET', '/v1/workflows', ...lines));
    const { status } = await raw.answer();
    raw.close();
    return status;
  };
  for (const one of [good, `AUTHORIZATION: bEARER ${KEY}`, `authorization:Bearer   ${KEY}   `]) {
    assert.equal(await ask(one), 200, one);
  }
  const wrong = [
    `authorization: ${KEY}`,
    `authorization: Bearer${KEY}`,
    `authorization: Bearer\t${KEY}`,
    `authorization: Bearer ${KEY},Bearer ${KEY}`,
    `authorization: Bearer "${KEY}"`,
    `authorization: Bearer ${KEY} ${KEY}`,
    `authorization: Bearer ${KEY}\u00a0`,
    `authorization: Bearer ${encodeURIComponent(`${KEY} `)}`,
    `authorization: Basic ${Buffer.from(`:${KEY}`).toString('base64')}`,
    `authorization: Bearer ${KEY.toUpperCase()}`,
    `authorization: Bearer ${'x'.repeat(40_000)}`,
    'authorization: Bearer null',
    'authorization: Bearer undefined',
    'authorization:',
    `proxy-authorization: Bearer ${KEY}`,
    `x-authorization: Bearer ${KEY}`,
    `cookie: authorization=Bearer ${KEY}; key=${KEY}`,
    `authorization : Bearer ${KEY}`,
    `x: y\r\n authorization: Bearer ${KEY}`,
  ];
  for (const one of wrong) assert.ok([400, 401].includes(await ask(one)), one.slice(0, 80));
  const others = ['authorization: Bearer nonsense', good, 'Authorization: Basic eA==', 'authorization:'];
  for (const other of others) {
    for (const lines of [
      [good, other],
      [other, good],
    ])
      assert.equal(await ask(...lines), 400, other);
  }
  assert.ok([400, 431].includes(await ask(`authorization: Bearer ${'x'.repeat(100_000)}`)));
});

test('a key is taken from the header alone', async (t) => {
  const { call } = await startServer(t);
  for (const name of ['api_key', 'key', 'access_token', 'authorization', 'token', 'caller']) {
    const { status } = await call('GET', `/v1/workflows?${name}=${KEY}`, { key: null });
    assert.equal(status, 401, name);
    const posted = await call('POST', '/v1/webhooks', { key: null, json: { [name]: KEY, url: 'https://example.com' } });
    assert.equal(posted.status, 401, name);
  }
});

test('no method gets around what a route needs', async (t) => {
  const harness = await startServer(t);
  const reader = await addReadKey(harness);
  const { port, calls } = harness;
  const ask = async (text: string, hasBody = true) => {
    const raw = connect(t, port);
    raw.send(text);
    const answer = await raw.answer(hasBody).catch(async () => ({ status: 0, head: '', body: '' }));
    raw.close();
    return answer;
  };
  for (const key of [null, reader]) {
    const auth = key === null ? [] : [`authorization: Bearer ${key}`];
    for (const method of ['OPTIONS', 'TRACE', 'PATCH', 'LOCK', 'PROPFIND', 'M-SEARCH', 'QUERY']) {
      const { status, head: answered, body } = await ask(head(method, '/v1/webhooks', ...auth));
      assert.ok((key === null ? [401] : [400, 405]).includes(status), `${method}: ${status}`);
      assert.ok(!`${answered}${body}`.includes(reader), `${method} tells the key`);
    }
    assert.equal((await ask(head('HEAD', '/v1/webhooks', ...auth), false)).status, key === null ? 401 : 200);
    for (const target of ['/v1/webhooks', 'x:80', '127.0.0.1:80']) {
      const { status } = await ask(head('CONNECT', target, ...auth));
      assert.ok(status === 0 || status >= 400, `CONNECT ${target}: ${status}`);
    }
    for (const upgrade of ['websocket', 'h2c', 'TLS/1.2']) {
      const lines = [...auth, 'connection: upgrade, http2-settings', `upgrade: ${upgrade}`, 'http2-settings: AAMAAABk'];
      const { status } = await ask(head('DELETE', '/v1/webhooks/wh_1', ...lines));
      assert.equal(status, key === null ? 401 : 403, upgrade);
    }
  }
  for (const method of ['Delete', 'DELETE\u00a0', 'GET/']) {
    assert.equal((await ask(head(method, '/v1/webhooks/wh_1', `authorization: Bearer ${KEY}`))).status, 400, method);
  }
  assert.deepEqual(calls, []);
});

test('nothing of a key is said by its refusal', async (t) => {
  const { call, logged } = await startServer(t);
  for (const key of ['wrong-key-0123456789', `${KEY}x`, KEY.slice(0, -1)]) {
    const { text, status } = await call('GET', '/v1/workflows', { key });
    assert.equal(status, 401);
    assert.ok(!text.includes(key) && !text.includes(KEY));
  }
  assert.ok(!JSON.stringify(logged).includes(KEY.slice(0, -1)));
});
