// How much of a body is read, and whose memory it takes meanwhile.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { readBody } from '../../../../src/http/body/body.ts';
import { createBodyMemory } from '../../../../src/http/body/body-memory.ts';

const MAX_BYTES = 10;

function reading(headers: Record<string, string>) {
  const stream = new PassThrough();
  const memory = createBodyMemory({ maxBytes: 1000, maxOwnerBytes: 1000 });
  const req = Object.assign(stream, { headers }) as unknown as IncomingMessage;
  const read = readBody(req, { maxBytes: MAX_BYTES, memory, ownerId: 'u_1' });
  read.catch(() => undefined);
  return { stream, memory, read };
}

const CHUNKED = { 'transfer-encoding': 'chunked' };

test('a body of the limit is read', async () => {
  const { stream, read } = reading(CHUNKED);
  stream.end('x'.repeat(MAX_BYTES));
  assert.equal((await read)?.bytes.length, MAX_BYTES);
});

test('a body of one byte more is refused, and holds no memory', async () => {
  const { stream, memory, read } = reading(CHUNKED);
  stream.write('x'.repeat(MAX_BYTES));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(memory.heldBytes, MAX_BYTES);
  stream.write('x');
  await assert.rejects(read, { code: 'too_large' });
  assert.equal(memory.heldBytes, 0);
});

test('a body that says that it is too long is not read', async () => {
  const { stream, read } = reading({ 'content-length': String(MAX_BYTES + 1) });
  await assert.rejects(read, { code: 'too_large' });
  assert.equal(stream.listenerCount('data'), 0);
});
