import assert from 'node:assert/strict';
import { test } from 'node:test';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { webhookMiddleware } from '../../../src/verifier/express.ts';
import type { ReceivedWebhook, ReceiverOptions } from '../../../src/verifier/receiver.ts';
import { sendRaw } from '../../support/data/raw-http.ts';
import { ASYMMETRIC, deliver, FORGED, HARD, OPTIONS, PUBLIC_KEY, serve } from './kit.ts';

interface Arrangement {
  readonly before?: RequestHandler[];
  readonly options?: Partial<ReceiverOptions>;
}

async function receiverOf({ before = [], options = {} }: Arrangement = {}) {
  const app = express();
  const [received, bodies, errors]: [(ReceivedWebhook | undefined)[], unknown[], Error[]] = [[], [], []];
  for (const middleware of before) app.use(middleware);
  app.post('/hook', webhookMiddleware({ ...OPTIONS, ...options }), (request, response) => {
    received.push(request.webhook);
    bodies.push(request.body);
    response.sendStatus(204);
  });
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    errors.push(error);
    response.sendStatus(500);
  };
  app.use(onError);
  return { ...(await serve(app)), received, bodies, errors };
}

test('Genuine deliveries pass with their very bytes', async () => {
  await using receiver = await receiverOf();
  assert.equal((await deliver(receiver.url)).status, 204);
  const [webhook] = receiver.received;
  assert.deepEqual([webhook?.id, webhook?.timestampS], ['abcde12345', 1_700_000_000]);
  assert.deepEqual(webhook?.body, HARD);
  assert.deepEqual(receiver.bodies, [HARD]);
});

test('Behind a raw parser they pass too', async () => {
  const parsers = [express.raw({ type: '*/*' }), express.text({ type: '*/*' }), express.raw({ type: 'image/png' })];
  for (const parser of parsers) {
    await using receiver = await receiverOf({ before: [parser] });
    assert.equal((await deliver(receiver.url)).status, 204);
    assert.deepEqual(receiver.received[0]?.body, HARD);
  }
});

test('Bytes that the platform kept are taken', async () => {
  const keep: Parameters<typeof express.json>[0] = {
    verify: (request, _response, bytes) => void Object.assign(request, { rawBody: bytes }),
  };
  await using receiver = await receiverOf({ before: [express.json(keep)] });
  assert.equal((await deliver(receiver.url)).status, 204);
  assert.deepEqual(receiver.received[0]?.body, HARD);
});

test('Behind a JSON parser the mistake is named', async () => {
  await using receiver = await receiverOf({ before: [express.json()] });
  assert.equal((await deliver(receiver.url)).status, 500);
  assert.match(String(receiver.errors[0]?.message), /before express\.json\(\)/);
  assert.deepEqual(receiver.received, []);
});

test('Forged deliveries are answered with the reason', async () => {
  await using receiver = await receiverOf();
  const { status, responseBody } = await deliver(receiver.url, FORGED);
  assert.deepEqual([status, responseBody], [401, '{"error":"no signature matches"}']);
  assert.equal((await fetch(receiver.url, { method: 'POST', body: '{}' })).status, 400);
  assert.deepEqual(receiver.received, []);
});

test('Bodies beyond the limit are refused', async () => {
  const options = { maxBodyBytes: HARD.length };
  for (const before of [[], [express.raw({ type: '*/*' })]]) {
    await using receiver = await receiverOf({ before, options });
    assert.equal((await deliver(receiver.url)).status, 204);
    const body = Buffer.concat([HARD, Buffer.from(' ')]);
    assert.equal((await deliver(receiver.url, { emission: { body } })).status, 413);
    assert.equal(receiver.received.length, 1);
  }
});

test('A body of no declared length is cut off', async () => {
  await using receiver = await receiverOf({ options: { maxBodyBytes: 1000 } });
  const head = 'POST /hook HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
  const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
  const { status, text } = await sendRaw(receiver.url, [head, ...Array(50).fill(chunk)]);
  assert.equal(status, 413);
  assert.match(text, /connection: close/);
});

test('A public key verifies what it belongs to', async () => {
  await using receiver = await receiverOf({ options: { secrets: [OPTIONS.secrets, PUBLIC_KEY] } });
  assert.equal((await deliver(receiver.url, ASYMMETRIC)).status, 204);
  assert.equal((await deliver(receiver.url)).status, 204);
  await using other = await receiverOf();
  assert.equal((await deliver(other.url, ASYMMETRIC)).status, 401);
});

test('A forgotten secret shows at the start', () => {
  assert.throws(() => webhookMiddleware({ secrets: '' }), /secret is empty/);
  assert.throws(() => webhookMiddleware({ secrets: undefined as unknown as string }), /secret is empty/);
});
