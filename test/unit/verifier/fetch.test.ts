import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyRequest } from '../../../src/verifier/fetch.ts';
import type { ReceiverOptions } from '../../../src/verifier/receiver.ts';
import { ASYMMETRIC, FORGED, HARD, OPTIONS, PUBLIC_KEY, requestsOf } from './kit.ts';

async function judged(request: Request, options: Partial<ReceiverOptions> = {}) {
  return verifyRequest(request, { ...OPTIONS, ...options });
}

test('Genuine requests come with their very bytes', async () => {
  const result = await judged((await requestsOf())());
  assert.deepEqual(result, { ok: true, id: 'abcde12345', timestampS: 1_700_000_000, body: HARD });
});

test('Forged requests come with status and reason', async () => {
  const result = await judged((await requestsOf(FORGED))());
  assert.deepEqual(result, { ok: false, status: 401, reason: 'no signature matches' });
  const empty = await judged(new Request('http://localhost/', { method: 'POST' }));
  assert.deepEqual(empty, { ok: false, status: 400, reason: 'a webhook header is missing' });
});

test('Reading stops at the limit', async () => {
  let pulled = 0;
  const body = new ReadableStream({
    pull: (controller) => {
      pulled++;
      controller.enqueue(new Uint8Array(1000));
    },
  });
  const request = new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit);
  const result = await judged(request, { maxBodyBytes: 2500 });
  assert.ok(!result.ok && result.status === 413);
  assert.ok(pulled < 10);
});

test('A declared length beyond the limit is not read', async () => {
  const request = new Request('http://localhost/', {
    method: 'POST',
    body: '{}',
    headers: { 'content-length': '9999' },
  });
  const result = await judged(request, { maxBodyBytes: 9998 });
  assert.ok(!result.ok && result.status === 413);
  assert.equal(request.bodyUsed, false);
});

test('A public key verifies what it belongs to', async () => {
  assert.ok((await judged((await requestsOf(ASYMMETRIC))(), { secrets: PUBLIC_KEY })).ok);
  assert.ok(!(await judged((await requestsOf())(), { secrets: PUBLIC_KEY })).ok);
});

test('A body that was read before throws', async () => {
  const request = (await requestsOf())();
  await request.text();
  await assert.rejects(judged(request), /verify first/);
});
