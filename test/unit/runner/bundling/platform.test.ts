import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { axios, ConfigurationError } from '../../../../src/runner/modules/platform.ts';
import { defineSource } from '../../../../src/runner/modules/types.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Answers with what it saw; `/status/…` with that status, `/text` with text. */
async function server(t: TestContext): Promise<string> {
  const http = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url, headers } = request;
    response.statusCode = Number(url?.match(/^\/status\/(\d+)/)?.[1] ?? 200);
    response.setHeader('x-answer', 'yes');
    response.end(url === '/text' ? 'plain text' : JSON.stringify({ method, url, headers, body }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    http.closeAllConnections();
    http.close();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

test('axios resolves to the data', async (t) => {
  const url = await server(t);
  const seen = (await axios(undefined, { url })) as Seen;
  assert.deepEqual([seen.method, seen.url, seen.body], ['GET', '/', '']);
  assert.equal(await axios(null, { url: '/text', baseURL: `${url}/` }), 'plain text');
});

test('axios strips what is undefined', async (t) => {
  const seen = (await axios(
    {},
    {
      url: `${await server(t)}/x?a=1`,
      method: 'post',
      params: { b: 'ü', c: undefined, d: null, list: [1, 2], deep: { e: 1 }, at: new Date(0) },
      headers: { 'X-One': 1, 'X-Two': undefined },
      data: { kept: 1, gone: undefined },
      auth: { username: 'u', password: 'p' },
    },
  )) as Seen;
  assert.equal(seen.url, '/x?a=1&b=%C3%BC&list[]=1&list[]=2&deep[e]=1&at=1970-01-01T00:00:00.000Z');
  assert.deepEqual([seen.method, seen.body], ['POST', '{"kept":1}']);
  const { 'x-one': one, 'content-type': type, authorization } = seen.headers;
  assert.deepEqual([one, type, authorization, 'x-two' in seen.headers], ['1', 'application/json', 'Basic dTpw', false]);
});

test('axios sends text, bytes and forms as they are', async (t) => {
  const url = await server(t);
  const send = async (data: unknown, headers = {}): Promise<string> =>
    ((await axios({}, { url, method: 'PUT', data, headers })) as Seen).body;
  assert.equal(await send('text'), 'text');
  assert.equal(await send(Buffer.from('bytes')), 'bytes');
  assert.equal(await send(new URLSearchParams({ a: '1' })), 'a=1');
  assert.equal(
    await send({ a: 1, b: undefined, c: 'x y' }, { 'content-type': 'application/x-www-form-urlencoded' }),
    'a=1&c=x+y',
  );
  assert.equal(await send(new Blob(['streamed']).stream()), 'streamed');
});

test('axios gives the full response when asked', async (t) => {
  const url = await server(t);
  const full = (await axios({}, { url: `${url}/text`, returnFullResponse: true })) as Record<string, unknown>;
  assert.deepEqual(
    [full.status, full.data, (full.headers as Record<string, string>)['x-answer']],
    [200, 'plain text', 'yes'],
  );
  const bytes = (await axios({}, { url: `${url}/text`, responseType: 'arraybuffer' })) as Buffer;
  assert.equal(bytes.toString(), 'plain text');
  assert.equal(typeof (await axios({}, { url, responseType: 'text' })), 'string');
});

test('axios throws the body and exports debug', async (t) => {
  const url = `${await server(t)}/status/404`;
  const exported: [string, unknown][] = [];
  const $ = { export: (name: string, value: unknown) => void exported.push([name, value]) };
  await assert.rejects(axios($, { url }), (error: Error & { code?: string; status?: number }) => {
    assert.equal((JSON.parse(error.message) as Seen).url, '/status/404');
    assert.deepEqual([error.code, error.status], ['ERR_BAD_REQUEST', 404]);
    return true;
  });
  assert.deepEqual(
    exported.map(([name, value]) => [name, (value as { status: number }).status]),
    [['debug', 404]],
  );
  assert.equal(((await axios($, { url, validateStatus: () => true })) as Seen).url, '/status/404');
});

test('a ConfigurationError has that name', () => {
  const error = new ConfigurationError('set the key');
  assert.deepEqual([error.name, error.message, error instanceof Error], ['ConfigurationError', 'set the key', true]);
});

test('the define functions are identities', () => {
  const component = { run() {} };
  assert.equal(defineSource(component), component);
});
