// The rest of what components ask of `axios`: redirects, bodies of every kind, limits, and files.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, Agent as SecureAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  axios,
  getFileStream,
  getFileStreamAndMetadata,
  jsonStringify,
} from '../../../../src/runner/modules/platform.ts';
import type { AxiosConfig } from '../../../../src/runner/modules/platform-axios.ts';
import { authorizationOf } from '../../../../src/runner/modules/platform-oauth.ts';
import { selfSigned } from '../../webhook/certificate.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Answers with what it saw, unless it is told otherwise. */
async function serving(t: TestContext, handle?: Handler): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (handle && request.url !== '/seen') return handle(request, response, body);
    const { method, url, headers } = request;
    response.end(JSON.stringify({ method, url, headers, body }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ask = async (config: AxiosConfig): Promise<Seen> => (await axios({}, config)) as Seen;

test('lists in parameters are named as asked', async (t) => {
  const url = await serving(t);
  const params = { ids: [1, 2], 'tags[]': ['a'], deep: [{ x: 1 }, { x: undefined, y: null }] };
  const query = async (more: object): Promise<string> => (await ask({ url, params, ...more })).url;
  assert.equal(await query({}), '/?ids[]=1&ids[]=2&tags[]=a&deep[0][x]=1');
  assert.equal(await query({ paramsSerializer: { indexes: null } }), '/?ids=1&ids=2&tags=a&deep[0][x]=1');
  assert.equal(await query({ paramsSerializer: (given: typeof params) => `n=${given.ids.length}` }), '/?n=2');
  assert.equal(await query({ paramsSerializer: { serialize: () => 'own' } }), '/?own');
  assert.equal((await ask({ url: `${url}/?a=1#part`, params: new URLSearchParams('b=2') })).url, '/?a=1&b=2');
  assert.equal((await ask({ url: `${url}/?a=1`, params: { gone: undefined } })).url, '/?a=1');
});

test('parameters stand in place of those of the address', async (t) => {
  const url = await serving(t);
  const seen = async (query: string, params: object): Promise<string> => (await ask({ url: url + query, params })).url;
  assert.equal(await seen('/?a=1&b=2&a=3', { a: 'new' }), '/?b=2&a=new');
  assert.equal(await seen('/?a=1', { a: 'only' }), '/?a=only');
  assert.equal(await seen('/?a%5B%5D=1&b', { c: { d: [1, { e: null }] } }), '/?a%5B%5D=1&b&c[d][0]=1');
  assert.equal(await seen('/?__proto__=1&a', {}), '/?__proto__=1&a');
});

test('a plus in the address is a plus at the server', async (t) => {
  const url = await serving(t);
  const seen = async (more: object): Promise<string | null> =>
    new URL((await ask({ url: `${url}/a+b?email=ada+shop@example.com`, ...more })).url, url).searchParams.get('email');
  for (const params of [undefined, { page: 1 }]) assert.equal(await seen({ params }), 'ada+shop@example.com');
});

test('a POST without data has the type of a form', async (t) => {
  const url = await serving(t);
  const typeOf = async (config: object): Promise<unknown> => (await ask({ url, ...config })).headers['content-type'];
  for (const method of ['post', 'PUT', 'patch'])
    assert.equal(await typeOf({ method }), 'application/x-www-form-urlencoded');
  assert.equal(await typeOf({ method: 'post', headers: { 'content-type': 'text/x' } }), 'text/x');
  for (const method of ['get', 'delete']) assert.equal(await typeOf({ method }), undefined);
});

test('body is refused, and debug exports what was asked and answered', async (t) => {
  const url = await serving(t, (_request, response) => void response.end('{"answer":1}'));
  await assert.rejects(axios({}, { url, body: 'x' }), { name: 'ConfigurationError', message: /is "data", not "body"/ });
  const exported: [string, unknown][] = [];
  const step = { export: (name: string, value: unknown) => exported.push([name, value]) };
  await axios(step, { url, method: 'post', data: { a: 1 }, headers: { Authorization: 'secret' }, debug: true });
  const [asked, answered] = exported;
  assert.deepEqual(answered, ['debug_response', { answer: 1 }]);
  assert.deepEqual(asked, [
    'debug_config',
    { method: 'post', url, baseURL: undefined, params: undefined, data: { a: 1 } },
  ]);
});

test('OAuth 1 signs as its specification does', () => {
  // The example of RFC 5849, 1.2, whose signature is known.
  const keys = {
    consumer: { key: 'dpf43f3p2l4k3l03', secret: 'kd94hf93k423kf44' },
    token: { key: 'nnch734d00sl2jdk', secret: 'pfkkdhi9sl3r4s00' },
  };
  const request = { method: 'get', url: 'http://photos.example.net/photos?file=vacation.jpg&size=original' };
  const header = authorizationOf(request, keys, { nonce: 'kllo9940pd9333jh', seconds: 1191242096 });
  // Of https://oauth.net/core/1.0a/#sig_base_example, with the nonce and time there.
  assert.match(header, /oauth_signature="tR3%2BTy81lMeYAr%2FFid0kMTYa%2FWM%3D"/);
  assert.match(header, /^OAuth oauth_consumer_key="dpf43f3p2l4k3l03", oauth_nonce="kllo9940pd9333jh"/);
});

test('a request is signed here, by an address, or not at all', async (t) => {
  const url = await serving(t, (_request, response, body) => {
    response.end(JSON.stringify(`OAuth of ${JSON.parse(body).token.key} for ${JSON.parse(body).requestData.url}`));
  });
  const token = { key: 'k', secret: 's' };
  const seen = await serving(t);
  const ask1 = async (signing: object, config: object = {}): Promise<Seen> =>
    (await axios({}, { url: `${seen}/a`, params: { q: 'ü' }, ...config }, signing)) as Seen;
  const byAddress = await ask1({ token, oauthSignerUri: url });
  assert.equal(byAddress.headers.authorization, `OAuth of k for ${seen}/a?q=%C3%BC`);
  const here = await ask1({ token, oauthSignerUri: 'oauth1://consumer:se%2Fcret' });
  assert.match(
    here.headers.authorization ?? '',
    /^OAuth oauth_consumer_key="consumer".*oauth_token="k".*oauth_signature="/,
  );
  for (const signing of [{}, { token }, { token, oauthSignerUri: 'oauth1://consumer' }, { token, oauthSignerUri: 5 }]) {
    await assert.rejects(ask1(signing), { name: 'ConfigurationError', message: /oauth_signer_uri/ });
  }
});

test('bodies of every kind are sent', async (t) => {
  const url = await serving(t);
  const post = (data: unknown, type?: string): Promise<Seen> =>
    ask({ url, method: 'post', data, ...(type ? { headers: { 'content-TYPE': type } } : {}) });
  const form = new FormData();
  form.append('a', 'one');
  const sent = await post(form, 'multipart/form-data');
  assert.match(sent.headers['content-type'] ?? '', /^multipart\/form-data; ?boundary=/);
  assert.match(sent.body, /name="a"\r\n\r\none/);
  const made = await post({ a: 1, file: Buffer.from('bytes'), gone: null }, 'multipart/form-data');
  assert.match(made.body, /name="a"\r\n\r\n1\r\n[\s\S]*name="file"[\s\S]*bytes/);
  assert.equal((await post('plain', 'application/json')).body, '"plain"');
  assert.equal((await post('{"a":1}', 'application/json')).body, '{"a":1}');
  const urlencoded = await post({ a: { b: [1, 'x y'] }, gone: undefined }, 'application/x-www-form-urlencoded');
  assert.equal(urlencoded.body, 'a%5Bb%5D%5B0%5D=1&a%5Bb%5D%5B1%5D=x+y');
  const streamed = await post(Readable.from(['a', 'b']));
  assert.deepEqual([streamed.body, streamed.headers['transfer-encoding']], ['ab', 'chunked']);
  assert.equal((await post(new Uint16Array([0x6161]))).body, 'aa');
  assert.equal((await ask({ url, data: { with: 'GET' } })).body, '{"with":"GET"}');
});

test('a form of the package form-data keeps its length', async (t) => {
  const url = await serving(t);
  const stream = new PassThrough();
  // What it has of a stream, and no more: it is older than Node's own classes.
  const form = {
    pipe: (to: PassThrough) => stream.pipe(to),
    on: () => form,
    getHeaders: () => ({ 'content-type': 'multipart/form-data; boundary=X' }),
    getLength: (told: (error: null, bytes: number) => void) => told(null, 4),
  };
  stream.end('form');
  const { headers, body } = await ask({ url, method: 'POST', data: form, headers: form.getHeaders() });
  assert.deepEqual(
    [headers['content-type'], headers['content-length'], body],
    ['multipart/form-data; boundary=X', '4', 'form'],
  );
});

test('redirects are followed as they should be', async (t) => {
  const other = await serving(t);
  const url = await serving(t, (request, response) => {
    const [, status = '302', to = '/seen'] = /^\/(\d+)(.*)$/.exec(request.url ?? '') ?? [];
    response.writeHead(Number(status), { location: to === '/other' ? `${other}/seen` : to || '/seen' }).end();
  });
  const post = (path: string, more: AxiosConfig = {}): Promise<Seen> =>
    ask({ url: url + path, method: 'POST', data: { a: 1 }, headers: { authorization: 'key', 'x-own': '1' }, ...more });
  const found = await post('/302');
  assert.deepEqual(
    [found.method, found.body, found.headers['content-type'], found.headers.authorization],
    ['GET', '', undefined, 'key'],
  );
  const kept = await post('/307');
  assert.deepEqual([kept.method, kept.body], ['POST', '{"a":1}']);
  const elsewhere = await post('/308/other');
  assert.deepEqual([elsewhere.headers.authorization, elsewhere.headers['x-own']], [undefined, '1']);
  await assert.rejects(post('/302/302', { maxRedirects: 0 }), { code: 'ERR_BAD_REQUEST', status: 302 });
  await assert.rejects(post('/302/302/302/302/302', { maxRedirects: 3 }), { code: 'ERR_FR_TOO_MANY_REDIRECTS' });
  await assert.rejects(post('/307', { data: Readable.from(['once']) }), /a stream cannot be sent twice/);
});

test('a request that takes too long ends', async (t) => {
  const url = await serving(t, (request, response) => {
    if (request.url === '/body') response.writeHead(200).write('begun');
  });
  for (const path of ['/', '/body']) {
    await assert.rejects(ask({ url: url + path, timeout: 20 }), {
      code: 'ECONNABORTED',
      message: 'timeout of 20ms exceeded',
    });
  }
  const stopped = new AbortController();
  const asked = ask({ url, signal: stopped.signal });
  stopped.abort();
  await assert.rejects(asked, { code: 'ERR_CANCELED' });
});

test('what cannot be reached says why', async (t) => {
  const url = await serving(t);
  await assert.rejects(ask({ url: 'http://127.0.0.1:1' }), { code: 'ECONNREFUSED' });
  await assert.rejects(ask({ url: 'ftp://127.0.0.1' }), /Unsupported protocol ftp:/);
  await assert.rejects(ask({ url: '/path/only' }), { code: 'ERR_INVALID_URL' });
  await assert.rejects(axios({}, { url }, { oauthSignerUri: 'x' }), { name: 'ConfigurationError' });
});

test('a connection that fails names who asked', async () => {
  const listTasks = async (): Promise<unknown> => await axios(null, { url: 'http://127.0.0.1:1' });
  const error: Error = await listTasks().then(
    () => assert.fail('nothing listens there'),
    (thrown: Error) => thrown,
  );
  assert.match(error.stack ?? '', /^Error: connect ECONNREFUSED[\s\S]*at async listTasks/);
});

test('answers are read as asked', async (t) => {
  const url = await serving(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'set-cookie': ['a=1', 'b=2'] });
    response.end(gzipSync('\ufeff{"big": 1}'));
  });
  assert.deepEqual(await axios({}, { url }), { big: 1 });
  assert.deepEqual(await axios({}, url), { big: 1 });
  assert.equal(await axios({}, { url, responseType: 'text' }), '{"big": 1}');
  assert.ok(Buffer.isBuffer(await axios({}, { url, responseType: 'arraybuffer' })));
  const stream = (await axios({}, { url, responseType: 'stream' })) as Readable;
  assert.ok(stream instanceof Readable);
  assert.equal(Buffer.concat(await stream.toArray()).toString(), '\ufeff{"big": 1}');
  const changed = await axios({}, { url, transformResponse: [(text: unknown) => `${text}!`] });
  assert.equal(changed, '{"big": 1}!');
  const full = (await axios({}, { url, returnFullResponse: true })) as { headers: object; request: Json; config: Json };
  assert.deepEqual((full.headers as { 'set-cookie': string[] })['set-cookie'], ['a=1', 'b=2']);
  assert.equal(full.request.res.responseUrl, `${url}/`);
  assert.equal(full.config.url, url);
  assert.doesNotThrow(() => JSON.stringify(full));
});

// biome-ignore lint/suspicious/noExplicitAny: read member by member
type Json = any;

test('an error has the body, whatever was asked for', async (t) => {
  const url = await serving(t, (_request, response) => {
    response.writeHead(422).end('{"problem":"a"}');
  });
  for (const responseType of ['json', 'stream', 'arraybuffer', 'text']) {
    await assert.rejects(ask({ url, responseType }), (error: Json) => {
      assert.deepEqual([error.message, error.response.status], ['{"problem":"a"}', 422]);
      const { data } = error.response;
      const isBytes = responseType === 'arraybuffer';
      assert.deepEqual(isBytes ? JSON.parse(Buffer.from(data).toString()) : data, { problem: 'a' });
      return true;
    });
  }
  const self: { debug?: Json } = {};
  await assert.rejects(axios(self, { url, headers: { authorization: 'secret' } }));
  assert.equal(self.debug.status, 422);
  assert.doesNotMatch(JSON.stringify(self.debug), /secret/);
  assert.deepEqual(await axios({}, { url, validateStatus: null }), { problem: 'a' });
});

test('an agent with a certificate is used', async (t) => {
  const { key, cert } = selfSigned('IP:127.0.0.1');
  const server = createSecureServer({ key, cert }, (_request, response) => response.end('"secure"'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await assert.rejects(ask({ url }), { code: /SELF_SIGNED|UNABLE_TO_VERIFY/ });
  assert.equal(await axios({}, { url, httpsAgent: new SecureAgent({ rejectUnauthorized: false }) }), 'secure');
});

test('files are read by path and by address', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'errand-platform-'));
  t.after(() => rm(dir, { recursive: true }));
  const path = join(dir, 'report.pdf');
  await writeFile(path, 'a file');
  const read = async (stream: Readable): Promise<string> => Buffer.concat(await stream.toArray()).toString();
  assert.equal(await read(await getFileStream(path)), 'a file');
  const own = await getFileStreamAndMetadata(path);
  assert.equal(await read(own.stream), 'a file');
  assert.deepEqual(
    [own.metadata.name, own.metadata.size, own.metadata.contentType, own.metadata.lastModified instanceof Date],
    ['report.pdf', 6, 'application/pdf', true],
  );
  const url = await serving(t, (request, response) => {
    if (request.url !== '/a%20b.csv?x=1') return response.writeHead(404).end();
    response.writeHead(200, { 'content-length': 3, etag: '"1"', 'last-modified': 'Thu, 01 Jan 1970 00:00:00 GMT' });
    return response.end('abc');
  });
  const remote = await getFileStreamAndMetadata(`${url}/a%20b.csv?x=1`);
  assert.equal(await read(remote.stream), 'abc');
  assert.deepEqual(remote.metadata, {
    name: 'a b.csv',
    size: 3,
    contentType: 'text/csv',
    etag: '"1"',
    lastModified: new Date(0),
  });
  await assert.rejects(getFileStream(`${url}/none`), /cannot be read: the answer was 404/);
  await assert.rejects(getFileStream(join(dir, 'none')), { code: 'ENOENT' });
});

test('anything becomes JSON text', () => {
  const loop: Json = { a: 1n, list: [1] };
  loop.self = loop;
  loop.again = loop.list;
  assert.equal(jsonStringify(loop), '{"a":"1","list":[1],"again":[1]}');
});
