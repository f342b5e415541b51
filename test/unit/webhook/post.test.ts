import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import type { Attempt } from '../../../src/domain/delivery/delivery.ts';
import { freePort } from '../../support/port.ts';
import { deliveryTo, httpReceiver, NOW_MS, posterFor, reusable, SECRETS } from './receivers.ts';

test('The request is exactly what is promised', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  const body = Buffer.from('{"n": 12345678901234567890, "n": 1e400, "s": "\\u0000 é"}');
  await poster.post(
    deliveryTo(`${receiver.url}?a=b%20c#fragment`, {
      emission: { name: '$errors', body },
      attempt: 3,
      trigger: 'retry',
    }),
  );
  const [{ method, url, headers, body: sent } = fail()] = receiver.received;
  assert.deepEqual([method, url], ['POST', '/hook?a=b%20c']);
  assert.deepEqual(sent, body);
  const { 'webhook-signature': signature, ...rest } = headers;
  assert.deepEqual(rest, {
    host: `127.0.0.1:${receiver.port}`,
    connection: 'keep-alive',
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': 'errand/1.2.3',
    'accept-encoding': 'identity',
    'webhook-id': 'abcde12345',
    'webhook-timestamp': '1700000000',
    'errand-emitter-id': 'hi_1',
    'errand-event-name': '$errors',
    'errand-attempt': '3',
    'errand-trigger': 'retry',
  });
  assert.match(String(signature), /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
});

test('The independent library verifies what arrives', async (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: NOW_MS });
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  await poster.post(deliveryTo(receiver.url));
  const [{ headers, body } = fail()] = receiver.received;
  // Its JSON.parse would change the numbers; only whether it throws matters here.
  for (const secret of SECRETS) new Webhook(secret).verify(body, headers as Record<string, string>);
});

test('Any event name fits into its header', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  const names = ['', 'user.created', 'a b', '100%', 'naïve', '見出し', 'line\r\nx-evil: 1', 'tab\t', '\ud800'];
  for (const name of names)
    assert.equal((await poster.post(deliveryTo(receiver.url, { emission: { name } }))).status, 200);
  const sent = receiver.received.map(({ headers }) => String(headers['errand-event-name']));
  assert.deepEqual(sent.map(decodeURIComponent), [...names.slice(0, -1), '\ufffd']);
  assert.deepEqual(sent.slice(0, 2), names.slice(0, 2));
  assert.ok(receiver.received.every(({ headers }) => headers['x-evil'] === undefined));
});

const ANSWERS: [name: string, answer: RequestListener, expected: Partial<Attempt>][] = [
  ['200 with a body', (_, response) => response.end('thanks'), { status: 200, responseBody: 'thanks' }],
  [
    '204',
    (_, response) => response.writeHead(204).end(),
    { status: 204, responseBody: '', detail: 'The receiver answered 204.' },
  ],
  ['410', (_, response) => response.writeHead(410).end(), { status: 410, permanent: false }],
  ['500', (_, response) => response.writeHead(500).end('boom'), { status: 500, responseBody: 'boom' }],
  [
    '429',
    (_, response) => response.writeHead(429, { 'retry-after': '7' }).end(),
    {
      status: 429,
      retryAfterMs: 7000,
      detail: 'The receiver answered 429 and asked to be left alone for 7 s.',
    },
  ],
  [
    '302',
    (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    { status: 302, detail: 'The receiver answered 302; redirects are not followed.' },
  ],
  [
    '307',
    (_, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
    { status: 307, detail: 'The receiver answered 307; redirects are not followed.' },
  ],
  ['NUL bytes', (_, response) => response.end('a\0b'), { responseBody: 'a\ufffdb' }],
  ['no UTF-8', (_, response) => response.end(Buffer.of(0x61, 0xff, 0x62)), { responseBody: 'a\ufffdb' }],
  ['a long body', (_, response) => response.end('x'.repeat(65_536)), { status: 200, responseBody: 'x'.repeat(4096) }],
  [
    'a split character',
    (_, response) => response.end(`x${'é'.repeat(4096)}`),
    { responseBody: `x${'é'.repeat(2047)}` },
  ],
];

for (const [name, answer, expected] of ANSWERS) {
  test(`An answer is kept as it came: ${name}`, async () => {
    await using receiver = await httpReceiver(answer);
    await using poster = posterFor();
    const attempt = await poster.post(deliveryTo(receiver.url));
    assert.equal(attempt.outcome, 'answered');
    assert.deepEqual({ ...attempt, ...expected }, attempt);
    assert.equal(receiver.received.length, 1, 'redirects are not followed');
  });
}

test('Response headers are kept as text', async () => {
  await using receiver = await httpReceiver((_, response) => {
    response.writeHead(429, { 'Retry-After': '7', 'set-cookie': ['a=1', 'b=2'], ['__proto__']: 'x' }).end();
  });
  await using poster = posterFor();
  const { responseHeaders } = await poster.post(deliveryTo(receiver.url));
  assert.equal(responseHeaders['retry-after'], '7');
  assert.equal(responseHeaders['set-cookie'], '(hidden)');
  assert.ok(Object.values(responseHeaders).every((value) => typeof value === 'string'));
});

test('A compressed body is not inflated', async () => {
  const zipped = gzipSync(Buffer.alloc(10_000_000));
  await using receiver = await httpReceiver((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(zipped);
  });
  await using poster = posterFor();
  const attempt = await poster.post(deliveryTo(receiver.url));
  assert.equal(attempt.outcome, 'answered');
  assert.ok(attempt.responseBody.length <= 4096);
  assert.equal(attempt.responseBody.includes('\0'), false);
});

test('Times belong to the connection that took them', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor({ lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
  const named = `http://receiver.test:${receiver.port}/`;
  const first = await poster.post(deliveryTo(named));
  await reusable();
  const second = await poster.post(deliveryTo(named));
  const literal = await poster.post(deliveryTo(receiver.url));
  const kinds = [first, second, literal].map(({ timing }) => Object.values(timing).map((ms) => typeof ms));
  assert.deepEqual(kinds, [
    ['number', 'number', 'number'],
    ['object', 'object', 'number'],
    ['object', 'number', 'number'],
  ]);
  assert.equal(receiver.connections(), 2);
  assert.equal(first.startedAtMs, NOW_MS);
  assert.ok(Object.values(first.timing).every(Number.isInteger) && Number.isInteger(first.tookMs));
});

test('A closed port is refused', async () => {
  await using poster = posterFor();
  const attempt = await poster.post(deliveryTo(`http://127.0.0.1:${await freePort()}/`));
  assert.deepEqual([attempt.outcome, attempt.status], ['refused', null]);
  assert.equal(attempt.detail, 'The receiver refused the connection.');
});

test('Many posts at once all get answers', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  const attempts = await Promise.all(Array.from({ length: 300 }, () => poster.post(deliveryTo(receiver.url))));
  assert.ok(attempts.every(({ status }) => status === 200));
  const again = await Promise.all(Array.from({ length: 300 }, () => poster.post(deliveryTo(receiver.url))));
  assert.ok(again.every(({ status }) => status === 200));
  assert.ok(receiver.connections() < 600, 'connections are used again');
});

test('A record that makes no request is an attempt', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  const good = deliveryTo(receiver.url);
  const bad = [{ ...good, webhook: null }, deliveryTo(receiver.url, { webhook: { secrets: [] } })];
  for (const delivery of [...bad, deliveryTo(receiver.url, { emission: { emitterId: 'a\r\nb' } })]) {
    const attempt = await poster.post(delivery);
    assert.deepEqual([attempt.outcome, attempt.status], ['refused', null]);
    assert.match(attempt.detail, /^The request could not be made/);
  }
  assert.equal((await poster.post(good)).status, 200);
  assert.equal(receiver.received.length, 1);
});

test('A stopped attempt ends at once', async () => {
  await using receiver = await httpReceiver(() => {});
  await using poster = posterFor();
  const aborted = await poster.post(deliveryTo(receiver.url), AbortSignal.abort());
  assert.deepEqual(
    [aborted.outcome, aborted.detail],
    ['reset', 'The attempt was stopped before the request was sent.'],
  );
  assert.equal(receiver.connections(), 0);

  const controller = new AbortController();
  const pending = Array.from({ length: 20 }, () => poster.post(deliveryTo(receiver.url), controller.signal));
  while (receiver.received.length < 20) await new Promise(setImmediate);
  controller.abort();
  for (const { outcome, detail } of await Promise.all(pending)) {
    assert.deepEqual([outcome, detail], ['reset', 'The attempt was stopped before an answer came.']);
  }
});

test('Closing ends what is under way', async () => {
  await using receiver = await httpReceiver(() => {});
  const poster = posterFor();
  const pending = poster.post(deliveryTo(receiver.url));
  while (receiver.received.length < 1) await new Promise(setImmediate);
  await Promise.all([poster.close(), poster.close()]);
  assert.equal((await pending).detail, 'The attempt was stopped before an answer came.');
  assert.equal(
    (await poster.post(deliveryTo(receiver.url))).detail,
    'The attempt was stopped before the request was sent.',
  );
  await poster.close();
});

function fail(): never {
  throw new Error('nothing was received');
}
