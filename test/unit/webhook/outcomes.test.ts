// What each answer comes to, and what follows from it. With the other files here this is the whole table:
//
//   every status, statuses that are none, framing that is none      here
//   Retry-After in all its kinds                                     retry-after.test.ts
//   closed and reset at each stage, endless and dripping answers,
//   interim answers, timeouts of DNS, TLS, headers and body          hostile.test.ts
//   timeout of connecting, connections that died, what is read       connections.test.ts
//   DNS failures, rebinding, several addresses                       names.test.ts
//   certificates, plain HTTP on a TLS port                           tls.test.ts, client.test.ts
//   refused connections, compressed bodies, what is kept             post.test.ts
//   forbidden addresses                                              client.test.ts, spellings.test.ts

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Attempt, type AttemptDecision, decide } from '../../../src/domain/delivery/delivery.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { deliveryTo, posterFor, rawReceiver, reusable } from './receivers.ts';

const OK_BODY = 'content-length: 2\r\n\r\nok';
const OK = `HTTP/1.1 200 OK\r\n${OK_BODY}`;
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const JITTER_NONE = 0.5;

/** The attempt that an answer comes to, and what follows; then, that another answer is not taken for this one's. */
async function answered(text: string): Promise<{ attempt: Attempt; decision: AttemptDecision }> {
  await using receiver = await rawReceiver((socket, nth) => socket.write(nth === 1 ? text : OK));
  await using poster = posterFor();
  const delivery = deliveryTo(receiver.url);
  const attempt = await poster.post(delivery);
  await reusable();
  const next = await poster.post(delivery);
  assert.deepEqual([next.outcome, next.status, next.responseBody], ['answered', 200, 'ok'], 'the next one is sound');
  return { attempt, decision: decide(delivery, attempt, JITTER_NONE) };
}

const RETRIED: AttemptDecision = { state: 'retrying', inMs: LIMITS.retryDelaysMs[0], isPause: false };
const DELIVERED: AttemptDecision = { state: 'delivered' };
const GONE: AttemptDecision = { state: 'exhausted', code: 'WebhookGone' };

const STATUSES: [statuses: number[], decision: AttemptDecision, detail: RegExp][] = [
  [[200, 201, 202, 203, 204, 206, 207, 226, 299], DELIVERED, /^The receiver answered \d+\.$/],
  [[300, 301, 302, 303, 304, 307, 308, 399], RETRIED, /answered \d+; redirects are not followed\.$/],
  [[400, 401, 403, 404, 405, 408, 409, 411, 413, 418, 421, 422, 429, 451, 499], RETRIED, /answered \d+\.$/],
  [[410], GONE, /answered 410\.$/],
  [[500, 501, 502, 503, 504, 507, 511, 599], RETRIED, /answered \d+\.$/],
  [[600, 700, 999], RETRIED, /answered \d+\.$/],
];

for (const [statuses, decision, detail] of STATUSES) {
  test(`A status decides: ${statuses.join(', ')}`, async () => {
    for (const status of statuses) {
      const seen = await answered(`HTTP/1.1 ${status} Reason\r\nlocation: http://127.0.0.1:1/\r\n${OK_BODY}`);
      assert.deepEqual([seen.attempt.outcome, seen.attempt.status], ['answered', status]);
      assert.deepEqual(seen.decision, decision, String(status));
      assert.match(seen.attempt.detail, detail);
    }
  });
}

const SOUND: [name: string, text: string, body: string][] = [
  ['without a reason', `HTTP/1.1 200\r\n${OK_BODY}`, 'ok'],
  ['with empty lines before', `\r\n\r\n${OK}`, 'ok'],
  ['of a later version', `HTTP/2.0 200 OK\r\n${OK_BODY}`, 'ok'],
  ['in HTTP/1.0, kept alive', `HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n${OK_BODY}`, 'ok'],
  ['after an unknown interim one', `HTTP/1.1 199 Odd\r\n\r\n${OK}`, 'ok'],
  ['after 100 with headers', `HTTP/1.1 100 Continue\r\nx: y\r\n\r\n${OK}`, 'ok'],
  ['after 103 with a hundred links', `${'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(100)}${OK}`, 'ok'],
  ['in chunks with extensions', `${CHUNKED}1;a=b\r\no\r\n1;c="d"\r\nk\r\n0\r\n\r\n`, 'ok'],
  ['in chunks with trailers', `${CHUNKED}2\r\nok\r\n0\r\nx-checksum: 1\r\n\r\n`, 'ok'],
  ['that is empty', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', ''],
  ['204 that has a body', `HTTP/1.1 204 None\r\n${OK_BODY}`, ''],
  ['followed by garbage', `${OK}GARBAGE \0\xff`, 'ok'],
  ['followed by another', `${OK}HTTP/1.1 500 Smuggled\r\ncontent-length: 4\r\n\r\nevil`, 'ok'],
  ['followed by half of another', `${OK}HTTP/1.1 500 Smugg`, 'ok'],
];

for (const [name, text, body] of SOUND) {
  test(`An answer counts that comes ${name}`, async () => {
    const { attempt, decision } = await answered(text);
    assert.deepEqual([attempt.outcome, attempt.responseBody, decision], ['answered', body, DELIVERED]);
  });
}

const HEAD = /^The answer was not valid HTTP/;
const TOO_LARGE = /^The response headers were larger than 32 KiB/;
const UNSOUND: [name: string, text: string, detail: RegExp, status?: number][] = [
  ['status 000', `HTTP/1.1 000 Zero\r\n${OK_BODY}`, HEAD],
  ['status 099', `HTTP/1.1 099 Low\r\n${OK_BODY}`, HEAD],
  ['status 1000', `HTTP/1.1 1000 High\r\n${OK_BODY}`, HEAD],
  ['status 20', `HTTP/1.1 20 Short\r\n${OK_BODY}`, HEAD],
  ['status -200', `HTTP/1.1 -200 Negative\r\n${OK_BODY}`, HEAD],
  ['a status of letters', `HTTP/1.1 abc OK\r\n${OK_BODY}`, HEAD],
  ['an interim status with a body', `HTTP/1.1 102 Processing\r\n${OK_BODY}`, HEAD],
  ['an impossible version', `HTTP/9.9 200 OK\r\n${OK_BODY}`, HEAD],
  ['another protocol', `ICY 200 OK\r\n${OK_BODY}`, HEAD],
  ['no status line', 'hello', HEAD],
  ['a status line in small letters', `http/1.1 200 OK\r\n${OK_BODY}`, HEAD],
  ['a status line with two spaces', `HTTP/1.1  200 OK\r\n${OK_BODY}`, HEAD],
  ['lines that end in LF alone', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok', HEAD],
  ['a header without colon', `HTTP/1.1 200 OK\r\nfoo\r\n${OK_BODY}`, HEAD],
  ['a header name with a space', `HTTP/1.1 200 OK\r\nfoo : bar\r\n${OK_BODY}`, HEAD],
  ['a folded header', `HTTP/1.1 200 OK\r\nfoo: bar\r\n baz\r\n${OK_BODY}`, HEAD],
  ['NUL in a header', `HTTP/1.1 200 OK\r\nfoo: b\0r\r\n${OK_BODY}`, HEAD],
  ['two equal lengths', `HTTP/1.1 200 OK\r\ncontent-length: 2\r\n${OK_BODY}`, HEAD],
  ['two different lengths', `HTTP/1.1 200 OK\r\ncontent-length: 3\r\n${OK_BODY}`, HEAD],
  ['a list of lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\nok', HEAD],
  ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\nok', HEAD],
  ['a length in hexadecimal', 'HTTP/1.1 200 OK\r\ncontent-length: 0x2\r\n\r\nok', HEAD],
  ['a length beyond all numbers', `HTTP/1.1 200 OK\r\ncontent-length: ${'9'.repeat(30)}\r\n\r\nok`, HEAD],
  ['length and chunks at once', `${CHUNKED.replace('\r\n\r\n', '\r\n')}${OK_BODY}`, HEAD],
  ['a chunk size that is none', `${CHUNKED}zz\r\nok\r\n0\r\n\r\n`, HEAD, 200],
  ['a negative chunk size', `${CHUNKED}-2\r\nok\r\n0\r\n\r\n`, HEAD, 200],
  ['an empty chunk size', `${CHUNKED}\r\nok\r\n0\r\n\r\n`, HEAD, 200],
  ['a chunk size beyond all numbers', `${CHUNKED}${'f'.repeat(20)}\r\nok\r\n0\r\n\r\n`, HEAD, 200],
  ['a chunk longer than its size', `${CHUNKED}1\r\nok\r\n0\r\n\r\n`, HEAD, 200],
  ['1 MB of headers', `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(995)}\r\n`.repeat(1000)}${OK_BODY}`, TOO_LARGE],
  ['1 MB in one header', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}\r\n${OK_BODY}`, TOO_LARGE],
  ['1 MB of early hints', `HTTP/1.1 103 Hints\r\nlink: ${'x'.repeat(1_000_000)}\r\n\r\n${OK}`, TOO_LARGE],
  ['1 MB of trailers', `${CHUNKED}2\r\nok\r\n0\r\nx: ${'y'.repeat(1_000_000)}\r\n\r\n`, TOO_LARGE, 200],
];

for (const [name, text, detail, status = null] of UNSOUND) {
  test(`An answer fails that has ${name}`, async () => {
    const { attempt, decision } = await answered(text);
    assert.deepEqual([attempt.outcome, attempt.status], ['reset', status]);
    assert.match(attempt.detail, detail);
    assert.deepEqual(decision, RETRIED);
  });
}

test('Garbage that comes late is no answer', async () => {
  let isIdle = () => {};
  const idle = new Promise<void>((resolve) => (isIdle = resolve));
  await using receiver = await rawReceiver((socket, nth) => {
    socket.write(OK);
    if (nth > 1) return;
    // The client has the first answer, and drops the connection at what it did not ask for.
    socket.on('close', isIdle);
    setImmediate(() => socket.write('HTTP/1.1 500 Smuggled\r\ncontent-length: 0\r\n\r\n'));
  });
  await using poster = posterFor();
  assert.equal((await poster.post(deliveryTo(receiver.url))).status, 200);
  await idle;
  assert.equal((await poster.post(deliveryTo(receiver.url))).status, 200);
  assert.equal(receiver.connections(), 2);
});

test('An answer before the body was read counts', async () => {
  const body = Buffer.alloc(8_000_000, 'x');
  await using receiver = await rawReceiver((socket) => {
    socket.pause();
    socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
  });
  await using poster = posterFor();
  for (let n = 0; n < 2; n++) {
    const attempt = await poster.post(deliveryTo(receiver.url, { emission: { body } }));
    assert.deepEqual([attempt.outcome, attempt.status], ['answered', 413]);
  }
});
