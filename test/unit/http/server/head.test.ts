// Requests that two readers could read as two different ones: refused, and their connection closed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Harness, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { trigger } from '../records.ts';

async function started(t: Parameters<typeof startServer>[0]): Promise<Harness> {
  const harness = await startServer(t);
  await harness.seed.triggers(trigger(1));
  return harness;
}

/** Sends the lines as one request; what was answered first, and what else came until the server closed. */
async function refused(t: Parameters<typeof startServer>[0], port: number, lines: readonly string[]) {
  const raw = connect(t, port);
  raw.send(lines.join('\r\n'));
  const first = await raw.answer();
  raw.end();
  return { ...first, rest: await raw.closed() };
}

test('a request without a host is told so', async (t) => {
  const { port } = await started(t);
  const { status, head, body } = await refused(t, port, ['GET /healthz HTTP/1.1', '', '']);
  assert.equal(status, 400);
  assert.match(head, /x-request-id: req_/);
  assert.equal(JSON.parse(body).detail, 'The request has no Host header');
  const old = connect(t, port);
  old.send('GET /healthz HTTP/1.0\r\n\r\n');
  assert.equal((await old.answer()).status, 200, 'which is fine in HTTP/1.0');
});

test('a refused head is answered although its body is broken', async (t) => {
  const { port } = await started(t);
  for (const path of ['/e/key1', '/v1/workflows', '/nothing']) {
    const lines = [`POST ${path} HTTP/1.1`, 'transfer-encoding: chunked', '', 'zz', 'hello', '0', '', ''];
    const { status, head, body, rest } = await refused(t, port, lines);
    assert.equal(status, 400, path);
    assert.match(head, /content-type: application\/problem\+json/);
    assert.equal(JSON.parse(body).detail, 'The request has no Host header');
    assert.equal(rest, '');
  }
});

test('more than one host is refused everywhere', async (t) => {
  const { port, accepted } = await started(t);
  for (const path of ['/e/key1', '/v1/workflows', '/healthz', '/r/r_1/1.a/resume', '/nothing']) {
    for (const second of ['Host: b', 'HOST: a', 'hOsT:']) {
      const lines = [`POST ${path} HTTP/1.1`, 'Host: a', 'x: y', second, 'content-length: 0', '', ''];
      const { status, head, body, rest } = await refused(t, port, lines);
      assert.equal(status, 400, `${path} ${second}`);
      assert.match(JSON.parse(body).detail, /more than one Host/);
      assert.match(head, /connection: close/i);
      assert.equal(rest, '');
    }
  }
  assert.equal(accepted.length, 0);
});

test('a host that is none is refused', async (t) => {
  const { port, accepted } = await started(t);
  const bad = [
    'a b',
    'a/b',
    'a@b',
    'a,b',
    'a"b',
    'a<b',
    '[::1',
    '::1',
    'a:b',
    'a:123456',
    'a:80:90',
    'a\\b',
    'a?b',
    'a#b',
    'ü',
  ];
  for (const host of bad) {
    const lines = ['POST /e/key1 HTTP/1.1', `host: ${host}`, 'content-length: 0', '', ''];
    assert.equal((await refused(t, port, lines)).status, 400, host);
  }
  assert.equal(accepted.length, 0);
  for (const host of ['a', 'a.b:80', '[::1]:4400', '127.0.0.1:1', 'x_y', 'a:', '']) {
    const raw = connect(t, port);
    raw.send(`POST /e/key1 HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 0\r\n\r\n`);
    assert.equal((await raw.answer()).status, 200, host);
  }
});

test('a whole address must name the host', async (t) => {
  const { port, accepted } = await started(t);
  for (const [asked, host, status] of [
    ['GET http://other.example:8080/healthz?x=1', 'other.example:8080', 200],
    ['GET HTTP://other.example', 'OTHER.example', 200],
    ['GET http://other.example:80/healthz', 'other.example', 200],
    ['GET https://other.example/healthz', 'other.example:443', 200],
    ['GET http://other.example/v1/nothing', 'other.example', 401],
    ['POST http://other.example/e/key1/sub?q=1', 'other.example', 200],
    ['OPTIONS *', 'x', 404],
    ['GET http://other.example/healthz', 'another.example', 400],
    ['GET http://other.example:8080/healthz', 'other.example', 400],
    ['POST http://other.example/e/key1', 'x', 400],
    ['POST http://x@other.example/e/key1', 'other.example', 400],
    ['POST http:///e/key1', '', 400],
    ['POST ftp://x/e/key1', 'x', 400],
    ['POST file:///e/key1', '', 400],
  ] as const) {
    const raw = connect(t, port);
    raw.send(`${asked} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 0\r\n\r\n`);
    assert.equal((await raw.answer()).status, status, `${asked} to ${host}`);
  }
  assert.equal(accepted.length, 1);
  assert.equal(JSON.parse(Buffer.from(accepted[0]?.body ?? []).toString()).path, '/sub');
});

test('a body with two lengths is refused', async (t) => {
  const { port, accepted } = await started(t);
  for (const [name, headers, body] of [
    ['two lengths', ['content-length: 5', 'content-length: 6'], 'GET /'],
    ['the same length twice', ['content-length: 5', 'Content-Length: 5'], 'GET /'],
    ['a list of lengths', ['content-length: 5, 5'], 'GET /'],
    ['a length with a sign', ['content-length: +5'], 'GET /'],
    ['a length in hexadecimal', ['content-length: 0x5'], 'GET /'],
    ['chunked and a length', ['transfer-encoding: chunked', 'content-length: 5'], '0\r\n\r\n'],
    ['a length and chunked', ['content-length: 5', 'transfer-encoding: chunked'], '0\r\n\r\n'],
    ['chunked twice', ['transfer-encoding: chunked', 'transfer-encoding: chunked'], '0\r\n\r\n'],
    ['chunked, then another', ['transfer-encoding: chunked, identity'], '0\r\n\r\n'],
    ['another coding alone', ['transfer-encoding: gzip'], '0\r\n\r\n'],
    ['another, then chunked', ['transfer-encoding: gzip, chunked'], '5\r\nhello\r\n0\r\n\r\n'],
    ['another and chunked, in two', ['transfer-encoding: gzip', 'transfer-encoding: chunked'], '0\r\n\r\n'],
    ['chunked misspelt', ['transfer-encoding: xchunked'], '0\r\n\r\n'],
    ['a space before the colon', ['transfer-encoding : chunked'], '0\r\n\r\n'],
    ['a folded coding', ['transfer-encoding:', ' chunked'], '0\r\n\r\n'],
    ['a bare line feed', ['x: y\ntransfer-encoding: chunked'], '0\r\n\r\n'],
    ['a chunk whose size is none', ['transfer-encoding: chunked'], '0x5\r\nGET /\r\n0\r\n\r\n'],
    ['a chunk longer than its size', ['transfer-encoding: chunked'], '2\r\nabc\r\n0\r\n\r\n'],
    ['a chunk of 2^64 bytes', ['transfer-encoding: chunked'], '10000000000000005\r\nGET /\r\n0\r\n\r\n'],
  ] as const) {
    const { status, head, rest } = await refused(t, port, ['POST /e/key1 HTTP/1.1', 'host: x', ...headers, '', body]);
    assert.equal(status, 400, name);
    assert.match(head, /connection: close/i, name);
    assert.equal(rest, '', `${name}: nothing was read as a second request`);
  }
  assert.equal(accepted.length, 0);
});

test('chunks in HTTP/1.0 are refused', async (t) => {
  const { port, accepted } = await started(t);
  const lines = [
    'POST /e/key1 HTTP/1.0',
    'connection: keep-alive',
    'transfer-encoding: chunked',
    '',
    '1\r\na\r\n0\r\n\r\n',
  ];
  assert.equal((await refused(t, port, lines)).status, 400);
  assert.equal(accepted.length, 0);
});
