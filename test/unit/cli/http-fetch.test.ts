// What the command line calls the API with answers, and fails, as the platform's own `fetch` does.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, test } from 'node:test';
import { httpFetch } from '../../../src/cli/shell/http-fetch.ts';
import { freePort } from '../../support/port.ts';

const FETCHES = [httpFetch, fetch];

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close() && server.closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Asserts that both do the same, and returns what. */
async function same<T>(act: (one: typeof fetch) => Promise<T>): Promise<T> {
  const [ours, theirs] = await Promise.all(FETCHES.map(act));
  assert.deepEqual(ours, theirs);
  return ours as T;
}

interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code: unknown;
}

async function failure(call: Promise<unknown>): Promise<Failure> {
  const error = await call.then(
    () => assert.fail('it did not fail'),
    (thrown: Error) => thrown,
  );
  return { name: error.name, message: error.message, code: (error.cause as { code?: string } | undefined)?.code };
}

test('an answer is told whole', async () => {
  const url = await serve(async (req, res) => {
    const body = await new Response(req as unknown as ReadableStream).text();
    const { authorization, accept } = req.headers;
    res.writeHead(201, { 'x-a': 'ä'.normalize('NFC'), 'x-b': ['1', '2'], etag: '"1"' });
    res.end(`\ufeff${JSON.stringify([req.method, req.url, authorization, accept, body])}`);
  });
  const text = await same(async (one) => {
    const answer = await one(`${url}/a%20b?c=%24errors`, {
      method: 'PUT',
      headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
      body: '{"n":"ü\ud83d\ude00"}',
      redirect: 'manual',
    });
    const { ok, status, statusText, type, headers } = answer;
    assert.deepEqual([ok, status, statusText, type], [true, 201, 'Created', 'basic']);
    assert.deepEqual([headers.get('X-B'), headers.get('etag'), headers.get('x-none')], ['1, 2', '"1"', null]);
    return answer.text();
  });
  assert.equal(text, '["PUT","/a%20b?c=%24errors","Bearer k","*/*","{\\"n\\":\\"ü😀\\"}"]');
});

test('a redirect is not followed', async () => {
  const paths: unknown[] = [];
  const url = await serve((req, res) => {
    paths.push(req.url);
    res.writeHead(302, { location: '/to' }).end('gone');
  });
  const answer = await httpFetch(url, { redirect: 'manual' });
  assert.deepEqual([answer.ok, answer.status, answer.headers.get('location'), paths], [false, 302, '/to', ['/']]);
});

test('a body without an end is read as it comes, and left', async () => {
  let left = Promise.withResolvers<void>();
  const url = await serve((_req, res) => {
    res.write('first');
    res.once('close', () => left.resolve());
  });
  for (const one of FETCHES) {
    left = Promise.withResolvers();
    const { body } = await one(url);
    const reader = body?.getReader();
    const part = await reader?.read();
    assert.equal(new TextDecoder().decode(part?.value), 'first');
    await reader?.cancel();
    await left.promise;
  }
});

test('failures are those of the platform', async () => {
  const closed = `http://127.0.0.1:${await freePort()}`;
  assert.deepEqual(await same((one) => failure(one(closed))), {
    name: 'TypeError',
    message: 'fetch failed',
    code: 'ECONNREFUSED',
  });
  const plain = await serve((_req, res) => res.end());
  const overTls = plain.replace('http:', 'https:');
  assert.equal((await same((one) => failure(one(overTls)))).code, 'ERR_SSL_WRONG_VERSION_NUMBER');
  for (const address of ['ftp://127.0.0.1/', 'no address', 'http://127.0.0.1:1/']) {
    const { name } = await same(async (one) => ({ name: (await failure(one(address))).name }));
    assert.equal(name, 'TypeError', address);
  }
});

test('what ends a call is its reason', async () => {
  const half = await serve((_req, res) => {
    res.writeHead(200, { 'content-length': '10' });
    res.write('half');
  });
  const reason = new Error('enough');
  for (const one of FETCHES) {
    await assert.rejects(one(half, { signal: AbortSignal.abort(reason) }), reason);
    const control = new AbortController();
    const answer = await one(half, { signal: control.signal });
    const text = answer.text();
    control.abort(reason);
    await assert.rejects(text, reason);
  }
});

test('a server that breaks off is told, before its answer and within it', async () => {
  const silent = createTcpServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  after(() => silent.close());
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const { name, message } = await same(async (one) => ({ ...(await failure(one(url))), code: null }));
  assert.deepEqual([name, message], ['TypeError', 'fetch failed']);
  const half = await serve((req, res) => {
    res.writeHead(200, { 'content-length': '10' });
    res.write('half', () => req.socket.destroy());
  });
  const within = await same(async (one) => ({ ...(await failure((await one(half)).text())), code: null }));
  assert.deepEqual([within.name, within.message], ['TypeError', 'terminated']);
});
