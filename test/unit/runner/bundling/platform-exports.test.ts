// What `@pipedream/platform` exports besides `axios`: each by what it does.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import * as platform from '../../../../src/runner/modules/platform.ts';
import type { AxiosConfig } from '../../../../src/runner/modules/platform-axios.ts';

const {
  $send,
  $sendConfigRuntimeTypeChecker: check,
  ConfigurationError,
  cloneSafe,
  END_NEEDLE,
  getFileStream,
  getFileStreamAndMetadata,
  HTTP_METHODS,
  jsonStringifySafe,
  sendTypeMap,
} = platform;

async function serving(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const read = async (stream: Readable): Promise<string> => Buffer.concat(await stream.toArray()).toString();

test('cloneSafe copies what JSON can say', () => {
  const loop: Record<string, unknown> = { at: new Date(0), list: [1, undefined], gone: undefined, call: () => 1 };
  loop.self = loop;
  assert.deepEqual(cloneSafe(loop), { at: '1970-01-01T00:00:00.000Z', list: [1, null] });
  const given = { inner: { a: 1 } };
  const copy = cloneSafe(given) as typeof given;
  assert.ok(copy.inner !== given.inner);
  for (const nothing of [undefined, () => 1, Symbol('s'), null]) assert.equal(cloneSafe(nothing), null);
  assert.deepEqual([cloneSafe(''), cloneSafe(0), cloneSafe(false)], ['', 0, false]);
});

test('jsonStringifySafe leaves out circular references alone', () => {
  const shared = { a: 1 };
  const loop: Record<string, unknown> = { one: shared, two: shared, deep: { list: [shared] } };
  (loop.deep as Record<string, unknown>).up = loop;
  assert.equal(jsonStringifySafe(loop), '{"one":{"a":1},"two":{"a":1},"deep":{"list":[{"a":1}]}}');
  assert.equal(jsonStringifySafe(undefined), undefined);
  // The vendor's takes a set there.
  assert.equal(jsonStringifySafe({ a: 1 }, new Set() as never), '{"a":1}');
});

test('a ConfigurationError tells whether its stack is shown', () => {
  assert.equal(new ConfigurationError('m').exposeStack, false);
  assert.equal(new ConfigurationError('m', true).exposeStack, true);
});

test('the codecs judge what is sent', () => {
  assert.deepEqual(Object.keys(sendTypeMap), ['email', 'emit', 'http', 's3', 'sql', 'snowflake', 'sse']);
  assert.deepEqual(Object.keys(check), Object.keys(sendTypeMap));
  const http = {
    method: 'POST',
    url: 'http://x',
    data: 'text',
    headers: { a: 'b' },
    auth: { username: 'u', password: 'p' },
  };
  const s3 = { bucket: 'b', payload: {}, prefix: 'p' };
  for (const [codec, good] of [
    [platform.SendConfigEmail, {}],
    [platform.SendConfigEmail, { html: 'h', subject: 's', text: 't', more: 1 }],
    [platform.SendConfigEmit, { raw_event: {} }],
    [platform.SendConfigEmit, { raw_event: [], event: {} }],
    [platform.SendConfigEmit_required, { raw_event: {}, event: 5 }],
    [platform.SendConfigEmit_optional, {}],
    ...HTTP_METHODS.map((method) => [platform.SendConfigHTTP, { ...http, method }] as const),
    [platform.SendConfigS3, s3],
    [platform.SendConfigSQL, { table: 't', payload: 'p' }],
    [platform.SendConfigSSE, { channel: 'c', payload: {} }],
  ] as const) {
    assert.ok(codec.is(good), JSON.stringify(good));
    assert.deepEqual(codec.decode(good), { _tag: 'Right', right: good });
  }
  for (const [codec, bad] of [
    [platform.SendConfigEmail, { html: 1 }],
    [platform.SendConfigEmail, 'mail'],
    [platform.SendConfigEmit, {}],
    [platform.SendConfigEmit, { raw_event: {}, event: 'e' }],
    [platform.SendConfigEmit_optional, { event: null }],
    [platform.SendConfigHTTP, { ...http, method: 'post' }],
    [platform.SendConfigHTTP, { method: 'GET' }],
    [platform.SendConfigS3, { ...s3, payload: 5 }],
    [platform.SendConfigSnowflake, { account: 'a' }],
    [platform.SendConfigSSE, null],
  ] as const) {
    assert.equal(codec.is(bad), false, JSON.stringify(bad));
    assert.equal(codec.decode(bad)._tag, 'Left');
  }
});

test('the checker names the value and its place', () => {
  const checks = check as Record<string, (config: unknown) => void>;
  assert.equal(checks.http?.({ method: 'GET', url: 'http://x' }), undefined);
  assert.throws(() => checks.http?.({ method: 'FETCH', url: 'http://x' }), {
    message: '$send.http: invalid value FETCH for method',
  });
  assert.throws(() => checks.http?.({ method: 'GET', url: 'http://x', auth: { username: 'u', password: 5 } }), {
    message: '$send.http: invalid value 5 for auth.password',
  });
  assert.throws(() => checks.emit?.({}), { message: '$send.emit: invalid value undefined for raw_event' });
});

test('what belongs to a step says so without one', () => {
  assert.equal(END_NEEDLE, '__pd_end');
  assert.throws(() => platform.$end('m'), { name: 'ConfigurationError' });
  for (const name of ['http', 'email', 'emit', 's3', 'sql', 'sse', 'snowflake', 'sms'] as const) {
    assert.throws(() => $send[name]({} as never), { name: 'ConfigurationError', message: /only while a step runs/ });
  }
  assert.deepEqual([Object.keys(platform.$event), Reflect.get(platform.$event, 'body')], [[], undefined]);
});

test('a file without a length gets its size, and leaves nothing behind', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'errand-platform-'));
  t.after(() => rm(dir, { recursive: true }));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = dir;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const url = await serving(t, (request, response) => {
    if (request.url === '/moved.csv') return void response.writeHead(302, { location: '/elsewhere' }).end();
    if (request.url === '/broken') return void response.writeHead(200).write('half', () => response.destroy());
    response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8', 'content-encoding': 'gzip' });
    response.write(gzipSync('a,b\n1,2\n'));
    response.end();
  });
  const { stream, metadata } = await getFileStreamAndMetadata(`${url}/moved.csv`);
  assert.deepEqual([metadata.name, metadata.size, metadata.contentType], ['moved.csv', 8, 'text/csv; charset=utf-8']);
  assert.equal((await readdir(dir)).length, 1);
  const closed = once(stream, 'close');
  assert.equal(await read(stream), 'a,b\n1,2\n');
  await closed;
  while ((await readdir(dir)).length > 0) await new Promise((resolve) => setImmediate(resolve));
  await assert.rejects(getFileStreamAndMetadata(`${url}/broken`));
  assert.deepEqual(await readdir(dir), []);
  assert.equal(await read(await getFileStream(`${url}/x`)), 'a,b\n1,2\n');
});

test('a file may be in its address', async () => {
  const open = async (address: string): Promise<unknown[]> => {
    const { stream, metadata } = await getFileStreamAndMetadata(address);
    return [await read(stream), metadata.name, metadata.contentType, metadata.size];
  };
  assert.deepEqual(await open('data:text/plain,Hello%20World'), ['Hello World', 'file.txt', 'text/plain', 11]);
  assert.deepEqual(await open('data:image/png;name=a%20b.png;base64,AAEC'), [
    '\u0000\u0001\u0002',
    'a b.png',
    'image/png',
    3,
  ]);
  assert.deepEqual(await open('data:,x,y'), ['x,y', 'file', 'text/plain;charset=US-ASCII', 3]);
  assert.equal(await read(await getFileStream('data:;base64,aGk=')), 'hi');
  await assert.rejects(getFileStream('data:nothing'), { code: 'ERR_INVALID_URL' });
});

test('what no name tells has no type', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'errand-platform-'));
  t.after(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, 'blob'), '');
  const { stream, metadata } = await getFileStreamAndMetadata(join(dir, 'blob'));
  stream.destroy();
  assert.deepEqual([metadata.contentType, metadata.size], [undefined, 0]);
});

test('an instance has settings and interceptors of its own', async (t) => {
  const url = await serving(t, (request, response) => {
    response.statusCode = request.url?.startsWith('/none') ? 404 : 200;
    response.end(JSON.stringify([request.method, request.url, request.headers['x-own'], request.headers['x-more']]));
  });
  const api = platform.axios.create({ baseURL: url, headers: { 'x-own': '1' }, params: { key: 'k' } });
  assert.deepEqual(await api.get('/a', { params: { b: 2 } }), ['GET', '/a?key=k&b=2', '1', null]);
  assert.deepEqual(await api.post('/p', { n: 1 }), ['POST', '/p?key=k', '1', null]);
  assert.deepEqual(await api({ url: '/c', method: 'put', params: { key: 'own' } }), ['PUT', '/c?key=own', '1', null]);
  assert.deepEqual(await api('/t'), ['GET', '/t?key=k', '1', null]);
  const full = (await api.request({ url: '/f', returnFullResponse: true })) as { status: number };
  assert.equal(full.status, 200);
  const seen: string[] = [];
  const id = api.interceptors.request.use((config: AxiosConfig) => {
    seen.push('first registered');
    return { ...config, headers: { ...config.headers, 'x-more': 'yes' } };
  });
  api.interceptors.request.use((config: AxiosConfig) => {
    seen.push('last registered');
    return config;
  });
  api.interceptors.response.use((data: unknown[]) => data.length);
  assert.equal(await api.get('/a'), 4);
  assert.deepEqual(seen, ['last registered', 'first registered']);
  api.interceptors.request.eject(id);
  api.interceptors.response.clear();
  assert.deepEqual(await api.get('/a'), ['GET', '/a?key=k', '1', null]);
  await assert.rejects(api.get('/none'), { code: 'ERR_BAD_REQUEST', status: 404 });
  api.interceptors.response.use(undefined, (error: { status: number }) => error.status);
  assert.equal(await api.get('/none'), 404);
});

test('what OAuth 1 signs has the fields of forms alone', () => {
  const signed = (config: AxiosConfig) => platform.transformConfigForOauth({ url: 'http://x/a', ...config });
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  assert.deepEqual(signed({ params: { q: 1 } }), { method: 'get', url: 'http://x/a?q=1' });
  assert.deepEqual(signed({ method: 'post', data: { a: 1 } }), { method: 'post', url: 'http://x/a' });
  assert.equal(signed({ url: 'http://x/a b?name=c d&list[]=1' }).url, 'http://x/a%20b?name=c%20d&list[]=1');
  assert.deepEqual(signed({ method: 'post', data: { a: 1 }, headers: form }).data, { a: 1 });
  assert.deepEqual({ ...signed({ method: 'post', data: 'a=1&a=2&b=c' }).data }, { a: ['1', '2'], b: 'c' });
  assert.deepEqual({ ...signed({ method: 'post', data: new URLSearchParams('a=1') }).data }, { a: '1' });
  const json = { 'content-type': 'application/json' };
  assert.equal(signed({ method: 'post', data: '{"a":1}', headers: json }).data, undefined);
});
