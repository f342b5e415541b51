// What callers take of a server before it knows them, and what is left for others: bare sockets, most of which stop halfway.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { Refusal } from '../../../../src/domain/refusal.ts';
import { standStill } from '../../../support/wait.ts';
import { type Harness, KEY, type Overrides, startServer } from '../harness.ts';
import { connect } from '../raw-connection.ts';
import { OTHER_ID, OWNER_ID, sha256, trigger } from '../records.ts';

const LARGE = 8 * 1024 * 1024 - 1;
const CHUNK = 'x'.repeat(100_000);

async function started(t: TestContext, more: Overrides = {}): Promise<Harness> {
  const harness = await startServer(t, more);
  await harness.seed.triggers(trigger(1), trigger(2, { tokenHash: sha256('t') }));
  return harness;
}

function head(line: string, ...headers: string[]): string {
  return `${line} HTTP/1.1\r\nhost: x\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n`;
}

const REFUSED_BY_THE_HEAD = [
  ['no key', 401, 'POST /v1/webhooks', ''],
  ['a wrong key', 401, 'POST /v1/webhooks', 'authorization: Bearer wrong'],
  ['no key, where nothing is', 401, 'POST /v1/nothing', ''],
  ['nothing there', 404, 'POST /nothing', ''],
  ['another method', 405, 'POST /healthz', ''],
  ['another method with a key', 405, 'PUT /v1/webhooks', `authorization: Bearer ${KEY}`],
  ['no such endpoint', 404, 'POST /e/none', ''],
  ['no token', 401, 'POST /e/key2', ''],
  ['a wrong token', 401, 'POST /e/key2', 'authorization: Bearer u'],
  ['an encoding that is not taken', 415, 'POST /e/key1', 'content-encoding: zstd'],
  ['an idempotency key that is too long', 400, 'POST /e/key1', `idempotency-key: ${'k'.repeat(256)}`],
  ['no wait', 404, 'POST /r/x/1.a/resume', ''],
  ['a compressed API body', 415, 'POST /v1/webhooks', `authorization: Bearer ${KEY}\r\ncontent-encoding: gzip`],
] as const;

test('a body that is refused is never read', async (t) => {
  const harness = await started(t, { maxBodyBytes: LARGE });
  for (const [name, status, line, header] of REFUSED_BY_THE_HEAD) {
    for (const size of [`content-length: ${LARGE}`, 'transfer-encoding: chunked']) {
      const raw = connect(t, harness.port);
      raw.send(head(line, ...(header === '' ? [] : [header]), size));
      const answer = await raw.answer();
      assert.equal(answer.status, status, `${name}, ${size}`);
      assert.match(answer.head, /connection: close/i, `${name}, ${size}`);
      raw.close();
    }
  }
  assert.equal(harness.accepted.length, 0);
});

test('a small body that is refused costs no connection', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  for (const [name, status, line, header] of REFUSED_BY_THE_HEAD) {
    raw.send(head(line, ...(header === '' ? [] : [header]), 'content-length: 60000'));
    assert.equal((await raw.answer()).status, status, name);
    raw.send('x'.repeat(60_000));
  }
  raw.send(`${head('POST /e/key1', 'content-length: 1')}1`);
  assert.equal((await raw.answer()).status, 200);
  assert.equal(harness.accepted.length, 1);
});

test('only callers with a key are told to go on', async (t) => {
  const harness = await started(t);
  const expecting = ['expect: 100-continue', 'content-length: 5'];
  for (const [name, status, line, header] of REFUSED_BY_THE_HEAD) {
    const raw = connect(t, harness.port);
    raw.send(head(line, ...(header === '' ? [] : [header]), ...expecting));
    const answer = await raw.answer();
    assert.equal(answer.status, status, name);
    assert.match(answer.head, /connection: close/i, `${name}: what comes next may be the body or not`);
    raw.close();
  }
  for (const [line, header] of [
    ['POST /e/key1', 'x: y'],
    ['POST /v1/webhooks', `authorization: Bearer ${KEY}`],
  ] as const) {
    const raw = connect(t, harness.port);
    raw.send(head(line, header, ...expecting));
    assert.equal((await raw.answer()).status, 100, line);
    raw.send('12345');
    assert.notEqual((await raw.answer()).status, 401, line);
  }
  assert.equal(harness.accepted.length, 1);
  const raw = connect(t, harness.port);
  raw.send(head('POST /e/key1', 'expect: tea', 'content-length: 0'));
  const { status, body } = await raw.answer();
  assert.deepEqual([status, JSON.parse(body).status], [400, 400]);
});

const REFUSED = new Refusal('impossible', 'whatever it is');

test('a body whose caller is gone takes memory until its request is done', async (t) => {
  const begun = Promise.withResolvers<void>();
  const deploying = Promise.withResolvers<never>();
  let calls = 0;
  const createWorkflow = () => {
    begun.resolve();
    if (calls++ > 0) throw REFUSED;
    return deploying.promise;
  };
  const bounds = { ownerBodyMemoryBytes: 300_000 };
  const { port, call } = await started(t, { bounds, actions: { createWorkflow } });
  const json = { name: 'n', steps: [{ namespace: 'a', code: 'x'.repeat(250_000) }] };
  const body = JSON.stringify(json);
  const raw = connect(t, port);
  raw.send(
    head('POST /v1/workflows', `authorization: Bearer ${KEY}`, `content-length: ${body.length}`) + body.slice(0, -1),
  );
  raw.send(body.slice(-1));
  await begun.promise;
  raw.close();
  await once(raw.socket, 'close');
  // By then the server has seen that the connection is closed.
  for (let n = 0; n < 5; n++) assert.equal((await call('GET', '/healthz')).status, 200);
  assert.equal((await call('POST', '/v1/workflows', { json })).status, 503);
  deploying.reject(REFUSED);
  assert.equal((await call('POST', '/v1/workflows', { json })).status, 422);
});

test('bodies under way have bounded memory', async (t) => {
  const bounds = { bodyMemoryBytes: 1_000_000, ownerBodyMemoryBytes: 700_000 };
  const harness = await started(t, { bounds, maxBodyBytes: 400_000 });
  await harness.seed.triggers(trigger(3, { ownerId: OTHER_ID }));
  const halves = [];
  for (let n = 0; n < 7; n++) {
    const raw = connect(t, harness.port);
    raw.send(head('POST /e/key1', 'content-length: 400000') + CHUNK);
    halves.push(raw);
  }
  const over = connect(t, harness.port);
  const refusedOver = async () => {
    over.send(head('POST /e/key1', 'content-length: 400000') + CHUNK);
    return over.answer();
  };
  // The first seven arrive in any order with this one: one of the eight is refused, and each tells the same.
  const { status, head: headers, body } = await Promise.race([refusedOver(), ...halves.map((raw) => raw.answer())]);
  assert.deepEqual([status, JSON.parse(body).type], [503, '/docs/errors#unavailable']);
  assert.match(headers, /retry-after: 1/);
  assert.equal(
    (await harness.call('POST', '/e/key1', { key: null, body: 'small' })).status,
    200,
    'small ones are taken',
  );
  const ofOther = await harness.call('POST', '/e/key3', { key: null, body: 'x'.repeat(200_000) });
  assert.equal(ofOther.status, 200, 'another owner has a share left');
  for (const raw of [over, ...halves]) {
    raw.close();
    await once(raw.socket, 'close');
  }
  const body400 = 'x'.repeat(400_000);
  for (let n = 0; n < 20; n++) {
    let answer = await harness.call('POST', '/e/key1', { key: null, body: body400 });
    // The server hears of closed sockets in its own time.
    while (answer.status === 503) answer = await harness.call('POST', '/e/key1', { key: null, body: body400 });
    assert.equal(answer.status, 200, 'what was held is given back');
  }
});

test('memory is given back however a request ends', async (t) => {
  const bounds = { bodyMemoryBytes: 300_000, ownerBodyMemoryBytes: 300_000 };
  const harness = await started(t, { bounds, maxBodyBytes: 250_000 });
  const calls = [
    ['/e/key1', { 'content-type': 'application/json' }, '['.repeat(200_000) + ']'.repeat(50_000)],
    ['/e/key1', { 'content-encoding': 'gzip' }, 'x'.repeat(250_000)],
    ['/e/key1', {}, 'x'.repeat(250_001)],
    ['/e/key2', { authorization: 'Bearer t' }, 'x'.repeat(250_000)],
    ['/v1/webhooks', { authorization: `Bearer ${KEY}` }, `{"url":"${'x'.repeat(200_000)}"}`],
    ['/v1/webhooks', { authorization: `Bearer ${KEY}` }, 'x'.repeat(250_000)],
  ] as const;
  for (let round = 0; round < 5; round++) {
    for (const [path, headers, body] of calls) {
      const { status } = await harness.call('POST', path, { key: null, headers, body });
      assert.notEqual(status, 503, `${path} in round ${round}`);
    }
  }
});

const QUICK = { headersMs: 40, requestMs: 80, checkMs: 10 };

test('half a request ends with 408', async (t) => {
  const harness = await started(t, { bounds: QUICK });
  const halves = [
    ['half a head', 'POST /e/key1 HTTP/1.1\r\nhost: x\r\n'],
    ['half a body', `${head('POST /e/key1', 'content-length: 100')}half`],
    ['half a chunk', `${head('POST /e/key1', 'transfer-encoding: chunked')}ff\r\nhalf`],
    ['no body', head('POST /e/key1', 'content-length: 100')],
    ['half a body with a key', `${head('POST /v1/webhooks', `authorization: Bearer ${KEY}`, 'content-length: 9')}{`],
  ] as const;
  for (const [name, sent] of halves) {
    const raw = connect(t, harness.port);
    raw.send(sent);
    const { status, head: headers, body } = await raw.answer();
    assert.equal(status, 408, name);
    assert.match(headers, /content-type: application\/problem\+json/);
    assert.match(headers, /x-request-id: req_/);
    assert.match(JSON.parse(body).type, /#too_slow$/);
    assert.equal(await raw.closed(), '', name);
  }
  assert.equal(harness.accepted.length, 0);
});

test('a connection that says nothing is closed without an answer', async (t) => {
  const harness = await started(t, { bounds: QUICK });
  assert.equal(await connect(t, harness.port).closed(), '', 'an answer would be taken for the one to the next request');
});

test('what has arrived when its time is over is answered', async (t) => {
  const bounds = { ...QUICK, headersMs: 300, requestMs: 400 }; // a busy machine is late with the second part
  const harness = await started(t, { bounds });
  const post = head('POST /e/key1', 'content-length: 4');
  const parts = [
    ['a whole request', '', `${post}body`],
    ['the rest of a head', post.slice(0, 20), `${post.slice(20)}body`],
    ['the rest of a body', `${post}b`, 'ody'],
    ['the rest of a second request', `${post}body${post.slice(0, 20)}`, `${post.slice(20)}body`],
  ] as const;
  for (const [name, first, rest] of parts) {
    const raw = connect(t, harness.port);
    await once(raw.socket, 'connect');
    raw.send(first);
    if (name.includes('second')) assert.equal((await raw.answer()).status, 200, name);
    await setTimeout(bounds.headersMs / 20);
    raw.send(rest);
    standStill(bounds.requestMs); // the server is late to read it, and judges the caller before
    assert.equal((await raw.answer()).status, 200, name);
  }
  assert.equal(harness.accepted.length, parts.length + 1);
});

test('what begins late has the time of any request, and no more', async (t) => {
  const harness = await started(t, { bounds: QUICK });
  const raw = connect(t, harness.port);
  await once(raw.socket, 'connect');
  await setTimeout(QUICK.headersMs / 2);
  raw.send('POST /e/key1 HTTP/1.1\r\nhost: x\r\n');
  standStill(QUICK.requestMs);
  assert.equal((await raw.answer()).status, 408);
});

test('a refused request that goes on is answered once', async (t) => {
  const harness = await started(t, { bounds: QUICK });
  const raw = connect(t, harness.port);
  raw.send(`${head('POST /e/none', 'content-length: 100')}half`);
  assert.equal((await raw.answer()).status, 404);
  assert.equal(await raw.closed(), '', 'no second answer that would be taken for the next one');
});

test('an answer that is not read is cut off', async (t) => {
  const harness = await started(t, { bounds: { unreadAnswerMs: 50 } });
  const raw = connect(t, harness.port);
  raw.socket.pause();
  const closed = new Promise((resolve) => raw.socket.on('close', resolve));
  raw.send(head('GET /v1/openapi.json').repeat(200));
  // A paused socket learns of the reset by writing.
  const writing = setInterval(() => raw.send(head('GET /healthz')), 20);
  await closed;
  clearInterval(writing);
  assert.equal((await harness.call('GET', '/healthz')).status, 200);
});

test('a broken request is refused once', async (t) => {
  const asked = Promise.withResolvers<void>();
  const { promise, resolve } = Promise.withResolvers<never>();
  const accept = () => {
    asked.resolve();
    return promise;
  };
  const harness = await started(t, { actions: { accept } });
  const raw = connect(t, harness.port);
  raw.send(head('POST /e/key1', 'content-length: 0'));
  await asked.promise;
  for (let n = 0; n < 20; n++) {
    raw.send('!!! not http\r\n\r\n');
    await harness.call('GET', '/healthz');
  }
  resolve({ appended: { emitId: 'tag1' }, answer: null } as never);
  assert.equal((await raw.answer()).status, 200);
  assert.equal((await raw.answer()).status, 400);
  assert.equal(await raw.closed(), '');
});

test('requests sent ahead are bounded', async (t) => {
  const waiting = Promise.withResolvers<void>();
  const harness = await started(t, { store: { triggerByKey: () => waiting.promise.then(() => undefined) } });
  const raw = connect(t, harness.port);
  raw.send(head('POST /e/key1').repeat(LIMITS.requestsAhead + 10));
  const other = await harness.call('GET', '/healthz');
  assert.equal(other.status, 200);
  waiting.resolve();
  const statuses = [];
  for (let status = 0; status !== 503; ) {
    ({ status } = await raw.answer());
    statuses.push(status);
  }
  assert.equal(statuses.length, LIMITS.requestsAhead + 2, 'the first one does not wait');
  assert.deepEqual([...new Set(statuses)], [404, 503]);
  assert.equal(await raw.closed(), '');
});

test('a caller that reads may always send ahead', async (t) => {
  const harness = await started(t);
  const raw = connect(t, harness.port);
  const requests = 3 * LIMITS.requestsAhead;
  for (let n = 0; n < requests; n++) {
    raw.send(`${head('POST /e/key1', 'content-length: 1')}1`);
    if (n >= 10) assert.equal((await raw.answer()).status, 200);
  }
});

test('a caller may wait in silence for its answer', async (t) => {
  const asked = Promise.withResolvers<void>();
  const { promise, resolve } = Promise.withResolvers<never>();
  const accept = () => {
    asked.resolve();
    return promise;
  };
  const harness = await started(t, { bounds: { unreadAnswerMs: 300, keepAliveMs: 300 }, actions: { accept } });
  const waiting = connect(t, harness.port);
  waiting.send(head('POST /e/key1', 'content-length: 0'));
  await asked.promise;
  const silent = connect(t, harness.port);
  // By the time that one that is idle is closed, it has waited for longer than that.
  await silent.closed();
  resolve({ appended: { emitId: 'tag1' }, answer: null } as never);
  assert.equal((await waiting.answer()).status, 200);
  await waiting.closed();
});

test('the owner of a wait is asked before its body', async (t) => {
  const asked: unknown[] = [];
  const findWait = (address: unknown) => {
    asked.push(address);
    return OWNER_ID;
  };
  const harness = await started(t, { actions: { findWait, endWait: () => 'queued' } });
  const raw = connect(t, harness.port);
  raw.send(head('POST /r/r_g4w9zl7uo0/1.a/resume', 'content-length: 4'));
  raw.send('"ok"');
  assert.equal((await raw.answer()).status, 200);
  assert.equal(asked.length, 1);
});
