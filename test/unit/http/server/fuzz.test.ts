// Bytes that are almost HTTP, from a seed: whatever comes, the server stays, and tells each caller what was wrong.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Refusal } from '../../../../src/domain/refusal.ts';
import { KEY, startServer } from '../harness.ts';
import { RawConnection } from '../raw-connection.ts';
import { trigger } from '../records.ts';

const SEED = Number(process.env.FUZZ_SEED ?? 20_260_101);
const CASES = Number(process.env.FUZZ_CASES ?? 600);
const MAX_GROWTH_BYTES = 20 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heldBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const REQUESTS = [
  'POST /e/key1/sub?a=1&b=2 HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 13\r\n\r\n{"a":[1,"b"]}',
  'POST /e/key1 HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n',
  'POST /e/key1 HTTP/1.1\r\nhost: x\r\nidempotency-key: k\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd',
  'PUT /e/key2 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer t\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n{}',
  'POST /e/none HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc',
  'GET /r/r_g4w9zl7uo0/1.token/resume HTTP/1.1\r\nhost: x\r\n\r\n',
  `GET /v1/workflows?limit=5&after=x HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\n\r\n`,
  `POST /v1/webhooks HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\ncontent-length: 30\r\n\r\n{"url":"https://example.com/a"}`,
  'GET http://x/%76%31/owners HTTP/1.1\r\nhost: x\r\n\r\n',
  'GET /docs HTTP/1.1\r\nhost: x\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n',
  'OPTIONS * HTTP/1.0\r\n\r\n',
];
const PIECES = [
  '\r\n',
  '\n',
  '\0',
  ' ',
  '%',
  '%00',
  '%2f..',
  ':',
  ';',
  ',',
  '0\r\n\r\n',
  'host: y\r\n',
  '99999999999',
  '-1',
  'é',
]
  .concat([
    'content-length: 1\r\n',
    'transfer-encoding: chunked\r\n',
    'HTTP/2.0',
    '[{"',
    '"\\ud800"',
    '__proto__',
    '\x7f',
  ])
  .concat([
    'x'.repeat(70_000),
    'expect: 100-continue\r\n',
    'upgrade: websocket\r\nconnection: upgrade\r\n',
    'CONNECT ',
  ]);

/** Mulberry32: whole numbers below `end`, the same for the same seed. */
function numbersFrom(seed: number): (end: number) => number {
  let state = seed >>> 0;
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
}

function mutated(below: (end: number) => number): Buffer {
  if (below(12) === 0) return Buffer.from(Array.from({ length: below(400) }, () => below(256)));
  let bytes = Buffer.from(REQUESTS[below(REQUESTS.length)] as string, 'latin1');
  for (let change = below(5); change >= 0; change--) {
    const at = below(bytes.length + 1);
    const piece = Buffer.from(PIECES[below(PIECES.length)] as string, 'latin1');
    switch (below(5)) {
      case 0:
        bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)]);
        break;
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + below(20))]);
        break;
      case 2:
        if (at < bytes.length) bytes[at] = below(256);
        break;
      case 3:
        bytes = bytes.subarray(0, at);
        break;
      default:
        bytes = Buffer.concat([bytes, bytes.subarray(at)]);
    }
  }
  return bytes;
}

const HEAD = /HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/g;

function checkAnswers(text: string): number[] {
  return [...text.matchAll(HEAD)].map(([, code, headers = '']) => {
    const status = Number(code);
    if (status === 100) return status;
    assert.notEqual(status, 500);
    assert.match(headers, /^x-request-id: req_\w+\r$/m);
    assert.match(headers, /^x-content-type-options: nosniff\r$/m);
    if (status >= 400) assert.match(headers, /^content-type: application\/problem\+json/m);
    return status;
  });
}

test('no bytes bring the server down', async (t) => {
  const notHere = () => Promise.reject(new Refusal('not_found', 'not here'));
  const actions = { createWebhook: notHere, findWait: notHere, endWait: notHere };
  const { seed, call, port, logged } = await startServer(t, { actions, maxBodyBytes: 64 * 1024 });
  await seed.triggers(trigger(1), trigger(2, { tokenHash: 'x' }));
  const below = numbersFrom(SEED);
  const before = heldBytes();
  const seen = new Map<number, number>();
  for (let n = 0; n < CASES; n++) {
    const bytes = mutated(below);
    const raw = new RawConnection(port);
    raw.send(bytes);
    raw.end();
    const text = await raw.closed();
    try {
      for (const status of checkAnswers(text)) seen.set(status, (seen.get(status) ?? 0) + 1);
      assert.deepEqual(logged, []);
    } catch (error) {
      const sent = JSON.stringify(bytes.toString('latin1').slice(0, 2000));
      throw new Error(`case ${n} of seed ${SEED}: ${sent} was answered ${JSON.stringify(text.slice(0, 2000))}`, {
        cause: error,
      });
    }
  }
  assert.equal((await call('GET', '/healthz')).status, 200);
  for (const status of [200, 400, 401, 404]) assert.ok((seen.get(status) ?? 0) > 0, `${status} was among them`);
  // What is left of refused bodies is let go of a moment later; a server that kept it would never pass this line.
  while (heldBytes() - before >= MAX_GROWTH_BYTES) await call('GET', '/healthz');
});
