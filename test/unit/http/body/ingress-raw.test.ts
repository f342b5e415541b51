// What only the bare socket shows: how bodies arrive, and what becomes of the connection.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Harness, KEY, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { sha256, trigger } from '../records.ts';

const LIMIT = 64 * 1024;

async function started(t: Parameters<typeof startServer>[0]): Promise<Harness> {
  const harness = await startServer(t, { maxBodyBytes: LIMIT });
  await harness.seed.triggers(trigger(1), trigger(2, { tokenHash: sha256('t') }));
  return harness;
}

function head(headers: string, line = 'POST /e/key1 HTTP/1.1'): string {
  return `${line}\r\nhost: x\r\n${headers}\r\n\r\n`;
}

function bodyOf(harness: Harness): unknown {
  return JSON.parse(Buffer.from(harness.accepted.at(-1)?.body ?? []).toString()).body;
}

test('a body cut short answers 400', async (t) => {
  const harness = await started(t);
  for (const path of ['/e/key1', '/v1/webhooks']) {
    const raw = connect(t, harness.port);
    const headers = `authorization: Bearer ${KEY}\r\ncontent-type: application/json\r\ncontent-length: 100`;
    raw.send(head(headers, `POST ${path} HTTP/1.1`));
    raw.send('{"a":');
    raw.end();
    const { status, head: answered, body } = await raw.answer();
    assert.equal(status, 400, path);
    assert.match(answered, /x-request-id: req_/);
    assert.match(JSON.parse(body).detail, /ended before/);
    assert.equal(await raw.closed(), '');
  }
  assert.equal(harness.accepted.length, 0);
});

test('chunked bodies are put together', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  raw.send(head('content-type: application/json\r\ntransfer-encoding: chunked'));
  for (const chunk of ['[1,', '"ü', '"]']) raw.send(`${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`);
  raw.send('0\r\n\r\n');
  assert.equal((await raw.answer()).status, 200);
  assert.deepEqual(bodyOf(harness), [1, 'ü']);
});

test('a chunked body without chunks is empty', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  raw.send(`${head('transfer-encoding: chunked')}0\r\n\r\n`);
  assert.equal((await raw.answer()).status, 200);
  assert.equal(bodyOf(harness), null);
});

test('too large by its length answers 413 early', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  raw.send(head(`content-length: ${LIMIT + 1}`));
  const { status, head: headers } = await raw.answer();
  assert.equal(status, 413);
  assert.match(headers, /connection: close/);
  raw.end();
  assert.equal(await raw.closed(), '');
});

test('duplicated headers are joined in the event', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  raw.send(head('x-a: 1\r\nX-A: 2\r\n__proto__: p\r\ncontent-length: 0'));
  assert.equal((await raw.answer()).status, 200);
  const { headers } = JSON.parse(Buffer.from(harness.accepted[0]?.body ?? []).toString());
  assert.equal(headers['x-a'], '1, 2');
});

test('a connection stays good after refusals', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  const small = 'content-type: application/json\r\ncontent-length: 2';
  raw.send(`${head(small, 'POST /e/none HTTP/1.1')}{}`);
  assert.equal((await raw.answer()).status, 404);
  raw.send(`${head(small, 'POST /e/key2 HTTP/1.1')}{}`);
  assert.equal((await raw.answer()).status, 401);
  raw.send(`${head(`${small}\r\nidempotency-key: ${'k'.repeat(300)}`)}{}`);
  assert.equal((await raw.answer()).status, 400);
  raw.send(`${head(small, 'POST /v1/nothing HTTP/1.1')}{}`);
  assert.equal((await raw.answer()).status, 401);
  raw.send(head('x: y', 'HEAD /e/none HTTP/1.1'));
  assert.equal((await raw.answer(false)).status, 404);
  raw.send(`${head(small)}{}`);
  assert.equal((await raw.answer()).status, 200);
});

test('pipelined requests are answered in order', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  const one = (n: number) => `${head('content-length: 1')}${n}`;
  raw.send(one(1) + one(2) + one(3));
  for (const n of [1, 2, 3]) assert.deepEqual(JSON.parse((await raw.answer()).body), { id: `tag42${n}` });
});

test('garbage after a request does not eat its answer', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  raw.send(`${head('content-length: 1')}1!!! not http\r\n\r\n`);
  assert.equal((await raw.answer()).status, 200);
  assert.equal((await raw.answer()).status, 400);
  await raw.closed();
});

test('malformed HTTP answers a 400 problem', async (t) => {
  const harness = await started(t);
  for (const garbage of [
    'GET / HTTP/9.9\r\n\r\n',
    'nonsense\r\n\r\n',
    `GET / HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
  ]) {
    const raw = connect(t, harness.port);
    raw.send(garbage);
    const { status, head: headers, body } = await raw.answer();
    assert.equal(status, 400);
    assert.match(headers, /content-type: application\/problem\+json/);
    assert.equal(JSON.parse(body).status, 400);
    await raw.closed();
  }
});

test('a caller that goes away breaks nothing', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  raw.send(`${head('content-length: 100')}half`);
  raw.close();
  assert.equal((await harness.call('POST', '/e/key1', { key: null, body: 'x' })).status, 200);
  assert.deepEqual(harness.logged, []);
});
