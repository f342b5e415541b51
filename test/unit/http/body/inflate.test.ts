// What compressed bodies become: bounded in size, and together in memory, whatever little the callers send.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { KIB } from '../../../../src/domain/limits.ts';
import { createBodyMemory } from '../../../../src/http/body/body-memory.ts';
import { readInflated } from '../../../../src/http/ingress/inflate.ts';

const MAX = 400 * KIB;
const LARGE = Buffer.alloc(390 * KIB, 'x');

function request(bytes: Buffer, encoding: string): IncomingMessage {
  const headers = { 'content-length': String(bytes.length), 'content-encoding': encoding };
  return Object.assign(Readable.from([bytes]), { headers }) as unknown as IncomingMessage;
}

/** Room for one large body, and not for two. */
function started() {
  const memory = createBodyMemory({ maxBytes: 2 * MAX, maxOwnerBytes: 500 * KIB });
  return { memory, of: (ownerId: string) => ({ maxBytes: MAX, memory, ownerId }) };
}

test('what is inflated is counted until it is released', async () => {
  const { memory, of } = started();
  for (const [encoding, bytes] of [
    ['gzip', gzipSync(LARGE)],
    ['X-GZIP', gzipSync(LARGE)],
    ['deflate', deflateSync(LARGE)],
    ['deflate', deflateRawSync(LARGE)],
    ['br', brotliCompressSync(LARGE)],
  ] as const) {
    assert.ok(bytes.length < 2 * KIB, `${encoding}: ${bytes.length} bytes`);
    const body = await readInflated(request(bytes, encoding), of('u_1'));
    assert.deepEqual(body?.bytes, LARGE, encoding);
    assert.equal(memory.heldBytes, LARGE.length, encoding);
    await assert.rejects(readInflated(request(bytes, encoding), of('u_1')), { code: 'unavailable' });
    assert.equal(memory.heldBytes, LARGE.length, 'what was refused is given back');
    const ofOther = await readInflated(request(bytes, encoding), of('u_2'));
    ofOther?.release();
    body?.release();
    body?.release();
    assert.equal(memory.heldBytes, 0, encoding);
  }
});

test('small bodies are inflated though memory is full', async () => {
  const { memory, of } = started();
  assert.ok(memory.take('u_1', 500 * KIB));
  const body = await readInflated(request(gzipSync('{"a":1}'), 'gzip'), of('u_1'));
  assert.equal(body?.bytes.toString(), '{"a":1}');
});

test('refused bodies hold no memory', async () => {
  const { memory, of } = started();
  const bomb = gzipSync(Buffer.alloc(50_000 * KIB));
  await assert.rejects(readInflated(request(bomb, 'gzip'), of('u_1')), { code: 'too_large' });
  const cut = gzipSync(LARGE).subarray(0, -20);
  await assert.rejects(readInflated(request(cut, 'gzip'), of('u_1')), { code: 'malformed' });
  await assert.rejects(readInflated(request(Buffer.from('no gzip'), 'gzip'), of('u_1')), { code: 'malformed' });
  await assert.rejects(readInflated(request(Buffer.from('no brotli'), 'br'), of('u_1')), { code: 'malformed' });
  assert.equal(memory.heldBytes, 0);
});

test('a body that is not compressed stays as it is', async () => {
  const { of } = started();
  for (const encoding of ['identity', '', ' Identity ']) {
    const body = await readInflated(request(Buffer.from('{ }'), encoding), of('u_1'));
    assert.equal(body?.bytes.toString(), '{ }');
  }
});
