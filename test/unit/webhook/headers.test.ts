// The webhook's own headers and time, and what a probe says was sent.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAddresses } from '../../../src/webhook/address.ts';
import { newSigningKey } from '../../../src/webhook/sign.ts';
import {
  deliveryTo,
  httpReceiver,
  NOW_MS,
  posterFor,
  type Received,
  rawReceiver,
  reusable,
  SECRETS,
} from './receivers.ts';

const OWN = { authorization: 'Bearer s3cret-token', 'x-tenant': 'münchen', 'x-empty': '' };

/** As a server hears them, in order, with the names that come twice. */
function pairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from(
    { length: rawHeaders.length / 2 },
    (_, n) => rawHeaders.slice(2 * n, 2 * n + 2) as [string, string],
  );
}

test('Own headers come after ours', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  await poster.post(deliveryTo(receiver.url, { settings: { headers: OWN } }));
  const names = pairs(receiver.received[0]?.rawHeaders ?? []).map(([name]) => name);
  assert.deepEqual(names.slice(-5), ['errand-trigger', ...Object.keys(OWN), 'content-length']);
  const { headers } = receiver.received[0] as Received;
  assert.deepEqual([headers.authorization, headers['x-tenant'], headers['x-empty']], Object.values(OWN));
});

const FORGED: [name: string, value: string][] = [
  ['host', 'internal.example'],
  ['Host', 'internal.example'],
  ['webhook-signature', 'v1,AAAA'],
  ['Webhook-Id', 'other'],
  ['webhook-anything', 'x'],
  ['errand-attempt', '99'],
  ['content-type', 'text/plain'],
  ['Content-Length', '0'],
  ['transfer-encoding', 'chunked'],
  ['connection', 'close'],
  ['keep-alive', 'timeout=1'],
  ['proxy-authorization', 'Basic c2VjcmV0'],
  ['accept-encoding', 'gzip'],
  ['user-agent', 'other'],
  ['expect', '100-continue'],
  ['upgrade', 'h2c'],
  ['te', 'trailers'],
  ['x y', 'spaced name'],
  ['x:', 'colon'],
  ['', 'no name'],
  ['x\r\nhost', 'split name'],
  ['x-split', 'a\r\nhost: internal.example'],
  ['x-split', 'a\nb'],
  ['x-split', 'a\rb'],
  ['x-nul', 'a\0b'],
  ['x-wide', '見出し'],
  ['x-padded', ' a'],
];

test('A header that forges or splits sends nothing', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  for (const [name, value] of FORGED) {
    const attempt = await poster.post(deliveryTo(receiver.url, { settings: { headers: { [name]: value } } }));
    assert.deepEqual([attempt.outcome, attempt.status], ['refused', null], name);
    assert.ok(attempt.detail.startsWith(`The request could not be made: the header ${JSON.stringify(name)} `), name);
    assert.equal(value.length > 6 && attempt.detail.includes(value), false, `${attempt.detail} repeats the value`);
  }
  assert.equal((await poster.post(deliveryTo(receiver.url))).status, 200);
  assert.equal(receiver.received.length, 1);
});

test('A probe says exactly what was sent', async () => {
  await using receiver = await httpReceiver((_, response) => response.writeHead(201).end('seen'));
  await using poster = posterFor({ lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
  const named = `http://Receiver.TEST:${receiver.port}/höök?a=b c#fragment`.replace(' ', '%20');
  for (const body of [Buffer.from('{"n":1}'), new Uint8Array()]) {
    for (const url of [receiver.url, named]) {
      const parts = { trigger: 'test', settings: { headers: OWN }, emission: { name: 'a b', body } } as const;
      const { attempt, request } = await poster.probe(deliveryTo(url, parts));
      const received = receiver.received.at(-1);
      assert.deepEqual([attempt.status, attempt.responseBody], [201, 'seen']);
      assert.deepEqual(request.headers, pairs(received?.rawHeaders ?? []));
      assert.deepEqual(
        [request.method, request.url],
        [received?.method, `http://${received?.headers.host}${received?.url}`],
      );
      assert.deepEqual(Buffer.from(request.body), received?.body);
      await reusable();
    }
  }
});

test('A probe names no port that goes without', async () => {
  await using poster = posterFor({ lookup: async () => [] });
  for (const [url, host] of [
    ['http://receiver.test:80/', 'receiver.test'],
    ['https://receiver.test:443/', 'receiver.test'],
    ['https://receiver.test:80/', 'receiver.test:80'],
    ['http://[2606:4700::1111]:8080/', '[2606:4700::1111]:8080'],
  ] as const) {
    const { request } = await poster.probe(deliveryTo(url), AbortSignal.abort());
    assert.deepEqual(request.headers[0], ['host', host]);
  }
});

test('A probe that sends nothing says so', async () => {
  await using poster = posterFor({ addresses: createAddresses({ allowTargets: [] }) });
  const refused = await poster.probe(deliveryTo('http://127.0.0.1:1/'));
  assert.equal(refused.attempt.outcome, 'forbidden');
  assert.deepEqual([refused.request.url, refused.request.headers], ['http://127.0.0.1:1/', []]);
  const unsigned = await poster.probe(deliveryTo('http://receiver.test/', { webhook: { secrets: [] } }));
  assert.equal(unsigned.attempt.detail, 'The request could not be made: there is no signing secret.');
  assert.deepEqual(unsigned.request.headers, []);
});

test('The signature follows settings and the time', async () => {
  await using receiver = await httpReceiver();
  const { secret: key, publicKey } = newSigningKey(new Uint8Array(32).fill(7));
  const secrets = [
    { secret: key, publicKey, untilMs: null },
    { secret: SECRETS[0] as string, publicKey: null, untilMs: null },
    { secret: SECRETS[1] as string, publicKey: null, untilMs: NOW_MS + 1 },
  ];
  let nowMs = NOW_MS;
  await using poster = posterFor({ clock: { nowMs: () => nowMs } });
  const versions = async (signature: ('v1' | 'v1a')[]) => {
    await poster.post(deliveryTo(receiver.url, { webhook: { secrets }, settings: { signature } }));
    const value = String(receiver.received.at(-1)?.headers['webhook-signature']);
    return value.split(' ').map((entry) => entry.split(',')[0]);
  };
  assert.deepEqual(await versions(['v1']), ['v1', 'v1']);
  assert.deepEqual(await versions(['v1', 'v1a']), ['v1', 'v1', 'v1a']);
  assert.deepEqual(await versions(['v1a']), ['v1a']);
  nowMs += 1;
  assert.deepEqual(await versions(['v1', 'v1a']), ['v1', 'v1a']);
});

test("A webhook's own time wins over the common one", async () => {
  await using receiver = await rawReceiver(() => {});
  await using hasty = posterFor({ timeoutMs: 60_000 });
  const short = await hasty.post(deliveryTo(receiver.url, { settings: { timeoutMs: 40 } }));
  assert.equal(short.outcome, 'timeout');
  assert.match(short.detail, /^The time of 0\.04 s ran out before /);

  await using late = await httpReceiver((_, response) => setTimeout(() => response.end('late'), 60));
  await using patient = posterFor({ timeoutMs: 20 });
  assert.equal((await patient.post(deliveryTo(late.url, { settings: { timeoutMs: 60_000 } }))).status, 200);
});

test('No detail holds what was secret', async () => {
  await using receiver = await rawReceiver((socket) => socket.destroy());
  await using poster = posterFor({ addresses: createAddresses({ allowTargets: ['127.0.0.1/32'] }) });
  const settings = { headers: { authorization: 'Bearer s3cret-token' } };
  const port = receiver.port;
  const urls = [
    `http://127.0.0.1:${port}/?key=s3cret`,
    'http://127.0.0.2/?key=s3cret',
    'https://no.invalid/?key=s3cret',
  ];
  const broken = { secrets: [{ secret: 'whsk_s3cret', publicKey: null, untilMs: null }] };
  const details = [
    ...(await Promise.all(urls.map((url) => poster.post(deliveryTo(url, { settings }))))),
    await poster.post(deliveryTo(`http://127.0.0.1:${port}/`, { webhook: broken, settings: { signature: ['v1a'] } })),
    await poster.post(deliveryTo(`http://127.0.0.1:${port}/`, { emission: { emitterId: 's3cret\r\n' } })),
  ].map(({ detail }) => detail);
  for (const detail of details) assert.doesNotMatch(detail, /s3cret|127\.0\.0\.[12]/);
});
