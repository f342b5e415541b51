// The stand-in for `axios` of the platform beside the package that it stands in for: what is sent, what is answered, and how
// requests fail.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type AxiosConfig, axios } from '../../../../src/runner/modules/platform-axios.ts';

/** What is used of the package here; both get settings that its types do not have. */
interface Package {
  request(config: object): Promise<{
    readonly status: number;
    readonly statusText: string;
    readonly headers: Readonly<Record<string, unknown>>;
    readonly data: unknown;
  }>;
}

const real = createRequire(import.meta.url)('axios') as Package;

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

/** What is the connection's own, or names the client. */
const OWN = /^(?:host|connection|user-agent|accept-encoding)$/;

async function seen(request: IncomingMessage): Promise<object> {
  const { method, url, headers } = request;
  let body = Buffer.concat(await request.toArray()).toString();
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.test(name)));
  const boundary = /boundary=(\S+)/.exec(headers['content-type'] ?? '')?.[1];
  if (boundary !== undefined) {
    body = body.replaceAll(boundary, 'B');
    kept['content-type'] = 'multipart/form-data; B';
    delete kept['content-length'];
    delete kept['transfer-encoding'];
  }
  return { method, url, headers: kept, body };
}

/** A function: bodies that can be read once are made for each of the two. */
type Case = () => object;

const form = (): FormData => {
  const made = new FormData();
  made.append('a', 'one');
  made.append('b', 'two');
  return made;
};
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

const SENT: Readonly<Record<string, Case>> = {
  nothing: () => ({}),
  'a query in the address': () => ({ url: '/a?x=1&y=2#part' }),
  parameters: () => ({ url: '/a', params: { s: 'ä b', n: 0, no: false, at: new Date(0), gone: null, list: [1, 'b'] } }),
  'parameters as such': () => ({ params: new URLSearchParams('a=1&a=2') }),
  'objects in parameters': () => ({
    params: { o: { x: 1, none: null, at: new Date(0), in: { list: ['a b', 2] } }, n: [[1, 2], { y: [3] }] },
  }),
  'objects and lists with indexes': () => ({
    params: { o: { list: [1] }, l: [1] },
    paramsSerializer: { indexes: true },
  }),
  'objects and lists without brackets': () => ({
    params: { o: { list: [1] }, l: [1] },
    paramsSerializer: { indexes: null },
  }),
  'lists without brackets': () => ({ params: { list: [1, 2] }, paramsSerializer: { indexes: null } }),
  'lists with indexes': () => ({ params: { list: [1, 2] }, paramsSerializer: { indexes: true } }),
  'their own serializer': () => ({ params: { a: 1 }, paramsSerializer: { serialize: () => 'own=1' } }),
  headers: () => ({ headers: { 'X-One': 1, 'X-Two': undefined, 'X-None': null, 'X-False': false, Accept: 'text/x' } }),
  'a list in a header': () => ({ headers: { 'X-List': ['a', 'b'] } }),
  'who asks': () => ({ auth: { username: 'ü', password: 'p:w' } }),
  'who asks, over a header': () => ({ auth: { username: 'u' }, headers: { authorization: 'Bearer x' } }),
  'an object': () => ({ method: 'post', data: { a: 1, gone: undefined, none: null, deep: { list: [1] } } }),
  'a list': () => ({ method: 'post', data: [1, { a: 2 }] }),
  'a text': () => ({ method: 'post', data: 'plain ü' }),
  'a text as JSON': () => ({ method: 'post', data: 'plain', headers: { 'content-type': 'application/json' } }),
  'JSON as a text': () => ({ method: 'post', data: '{"a":1}', headers: { 'content-type': 'application/json' } }),
  'a number as JSON': () => ({ method: 'post', data: 5, headers: { 'content-type': 'application/json' } }),
  bytes: () => ({ method: 'put', data: Buffer.from('bytes') }),
  'an array buffer': () => ({ method: 'put', data: new Uint8Array([97, 98]).buffer }),
  'a typed array': () => ({ method: 'put', data: new Uint8Array([97, 98]) }),
  'a stream': () => ({ method: 'put', data: Readable.from(['a', 'b']), maxRedirects: 0 }),
  'search parameters': () => ({ method: 'post', data: new URLSearchParams({ a: '1 2' }) }),
  'a form of fields': () => ({ method: 'post', data: { a: 'x y', b: { c: 1 }, list: [1, 2] }, headers: FORM }),
  'a form with lists in objects': () => ({ method: 'post', data: { a: { list: [1, 2] }, b: [[1]] }, headers: FORM }),
  'a multipart form': () => ({ method: 'post', data: form() }),
  'POST without data': () => ({ method: 'POST' }),
  'PATCH without data': () => ({ method: 'patch' }),
  'PUT with null': () => ({ method: 'put', data: null }),
  'DELETE with data': () => ({ method: 'delete', data: { id: 1 } }),
  'GET with data': () => ({ method: 'get', data: { id: 1 } }),
  OPTIONS: () => ({ method: 'options' }),
  'what transforms a request': () => ({
    method: 'post',
    data: { a: 1 },
    headers: { 'content-type': 'text/x' },
    transformRequest: [(data: { a: number }) => `a is ${data.a}`, (data: string) => `${data}!`],
  }),
};

test('the same is sent', async (t) => {
  const base = await serving(t, async (request, response) => response.end(JSON.stringify(await seen(request))));
  for (const [name, make] of Object.entries(SENT)) {
    const config = (): object => ({ baseURL: base, url: '/', ...make() });
    const ours = await axios(null, config() as AxiosConfig);
    const { data } = await real.request(config());
    // The platform's own leaves brackets as they are, as axios did first.
    const asked = data as { readonly url: string };
    assert.deepEqual(ours, { ...asked, url: asked.url.replace(/%5B/g, '[').replace(/%5D/g, ']') }, name);
  }
});

const ANSWERS: Readonly<Record<string, RequestListener>> = {
  '/json': (_, response) => response.setHeader('content-type', 'text/plain').end('{"a":1}'),
  '/text': (_, response) => response.setHeader('content-type', 'application/json').end('{broken'),
  '/number': (_, response) => response.end('5'),
  '/empty': (_, response) => response.writeHead(204).end(),
  '/gzip': (_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('"zipped"')),
  '/br': (_, response) => response.setHeader('content-encoding', 'br').end(brotliCompressSync('"zipped"')),
  '/deflate': (_, response) => response.setHeader('content-encoding', 'deflate').end(deflateSync('"zipped"')),
  '/bom': (_, response) => response.end('\ufeff{"a":1}'),
};

test('the same is answered', async (t) => {
  const base = await serving(t, (request, response) => {
    ANSWERS[request.url ?? '']?.(request, response);
  });
  for (const path of Object.keys(ANSWERS)) {
    for (const more of [{}, { responseType: 'text' }, { responseType: 'arraybuffer' }, { method: 'head' }] as const) {
      const config = { url: base + path, ...more };
      const ours = await axios(null, { ...config, returnFullResponse: true });
      const { status, statusText, headers, data } = await real.request(config);
      const { date: _ours, ...own } = (ours as { headers: Record<string, unknown> }).headers;
      const { date: _real, ...theirs } = { ...headers };
      const ourData = (ours as { data: unknown }).data;
      const what = `${path} ${JSON.stringify(more)}`;
      assert.deepEqual(
        { ...(ours as object), headers: own, data: null },
        { status, statusText, headers: theirs, data: null },
        what,
      );
      assert.deepEqual(ourData, data, what);
    }
  }
  const raw = { url: `${base}/gzip`, decompress: false, responseType: 'arraybuffer' } as const;
  assert.deepEqual(await axios(null, raw), (await real.request(raw)).data);
});

const FAILING: Readonly<Record<string, (base: string) => object>> = {
  'no such page': (base) => ({ url: `${base}/status/404` }),
  'a broken server': (base) => ({ url: `${base}/status/503` }),
  'a redirect that is not followed': (base) => ({ url: `${base}/again`, maxRedirects: 0 }),
  'redirects without end': (base) => ({ url: `${base}/again`, maxRedirects: 2 }),
  'a status that is refused': (base) => ({
    url: `${base}/status/200`,
    validateStatus: (status: number) => status > 200,
  }),
  'nothing listens there': () => ({ url: 'http://127.0.0.1:1' }),
  'an unknown protocol': () => ({ url: 'ftp://127.0.0.1' }),
  'no answer in time': (base) => ({ url: `${base}/never`, timeout: 20 }),
  'it was stopped before': (base) => ({ url: `${base}/never`, signal: AbortSignal.abort() }),
  'a connection that breaks': (base) => ({ url: `${base}/breaks` }),
  'an answer too large': (base) => ({ url: `${base}/status/200`, maxContentLength: 3 }),
  'a body too large': (base) => ({ url: base, method: 'post', data: '12345', maxBodyLength: 3 }),
};

test('requests fail alike', async (t) => {
  const base = await serving(t, (request, response) => {
    const { url = '' } = request;
    if (url === '/never') return;
    if (url === '/breaks') return void request.socket.destroy();
    if (url === '/again') return void response.writeHead(302, { location: '/again' }).end('moved');
    response.writeHead(Number(/\d+$/.exec(url)?.[0] ?? 200)).end('{"problem":true}');
  });
  const told = async (asking: Promise<unknown>): Promise<object> => {
    try {
      await asking;
    } catch (error) {
      const { code, response } = error as { code?: string; response?: { status: number; data: unknown } };
      // What the package says of an error that is no error's status was another in each of its versions.
      const isCompared = (response?.status ?? 400) >= 400;
      return { code: isCompared && code, status: response?.status, data: response?.data };
    }
    return { succeeded: true };
  };
  for (const [name, make] of Object.entries(FAILING)) {
    assert.deepEqual(await told(axios(null, make(base))), await told(real.request(make(base))), name);
  }
});
