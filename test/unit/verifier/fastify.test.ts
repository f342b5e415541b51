import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastify } from 'fastify';
import { webhookOf, webhookPreParsing } from '../../../src/verifier/fastify.ts';
import type { ReceivedWebhook, ReceiverOptions } from '../../../src/verifier/receiver.ts';
import { sendRaw } from '../../support/data/raw-http.ts';
import { ASYMMETRIC, deliver, FORGED, HARD, OPTIONS, PUBLIC_KEY } from './kit.ts';

async function receiverOf(options: Partial<ReceiverOptions> = {}) {
  const app = fastify();
  const received: ReceivedWebhook[] = [];
  const bodies: unknown[] = [];
  app.post('/hook', { preParsing: webhookPreParsing({ ...OPTIONS, ...options }) }, async (request) => {
    received.push(webhookOf(request));
    bodies.push(request.body);
  });
  app.post('/open', async (request) => webhookOf(request));
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  return { url: `${origin}/hook`, origin, received, bodies, [Symbol.asyncDispose]: () => app.close() };
}

test('Genuine deliveries pass with their very bytes', async () => {
  await using receiver = await receiverOf();
  assert.equal((await deliver(receiver.url)).status, 200);
  const [webhook] = receiver.received;
  assert.deepEqual([webhook?.id, webhook?.timestampS], ['abcde12345', 1_700_000_000]);
  assert.deepEqual(webhook?.body, HARD);
  assert.deepEqual(receiver.bodies, [JSON.parse(HARD.toString())]);
});

test('Forged deliveries are answered with the reason', async () => {
  await using receiver = await receiverOf();
  const { status, responseBody } = await deliver(receiver.url, FORGED);
  assert.equal(status, 401);
  assert.match(responseBody, /no signature matches/);
  assert.equal((await fetch(receiver.url, { method: 'POST', body: '{}' })).status, 400);
  assert.deepEqual(receiver.received, []);
});

test('Bodies beyond the limit are refused', async () => {
  await using receiver = await receiverOf({ maxBodyBytes: HARD.length });
  assert.equal((await deliver(receiver.url)).status, 200);
  const body = Buffer.concat([HARD, Buffer.from(' ')]);
  assert.equal((await deliver(receiver.url, { emission: { body } })).status, 413);
  assert.equal(receiver.received.length, 1);
});

test('A body of no declared length is cut off', async () => {
  await using receiver = await receiverOf({ maxBodyBytes: 1000 });
  const head = 'POST /hook HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
  const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
  const { status, text } = await sendRaw(receiver.url, [head, ...Array(50).fill(chunk)]);
  assert.equal(status, 413);
  assert.match(text, /connection: close/);
});

test('A public key verifies what it belongs to', async () => {
  await using receiver = await receiverOf({ secrets: PUBLIC_KEY });
  assert.equal((await deliver(receiver.url, ASYMMETRIC)).status, 200);
  assert.equal((await deliver(receiver.url)).status, 401);
});

test('Routes without the hook verify nothing', async () => {
  await using receiver = await receiverOf();
  const answer = await fetch(`${receiver.origin}/open`, { method: 'POST', body: '{}' });
  assert.equal(answer.status, 500);
  assert.match(await answer.text(), /no webhookPreParsing hook/);
});

test('A forgotten secret shows at the start', () => {
  assert.throws(() => webhookPreParsing({ secrets: '' }), /secret is empty/);
});
