// What may not be reached: on create, on update, on delivery and in a test of a webhook. Names of this machine stand for all
// names that lead inside; names that change are in test/unit/webhook/names.test.ts, with a name server of their own.

import assert from 'node:assert/strict';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { type TestContext, test } from 'node:test';
import type { Answer, Json } from '../../support/client.ts';
import { requestsOf, SEND_BODY, wholeOf } from '../../support/data/requests.ts';
import { type Errand, startErrand } from '../../support/errand.ts';
import { freePort } from '../../support/port.ts';
import { createWebhook, deliveries, EMIT_BODY } from '../../support/webhooks.ts';
import { withoutIso } from '../../support/wire/iso-times.ts';

const CLOSED = { ERRAND_ALLOW_TARGETS: '' };
const PUBLIC_URL = 'https://example.com/hook';

/** URLs that may never be reached, one of each kind, and the reason's words. */
const REFUSED: [url: string, reason: RegExp][] = [
  ['http://127.0.0.1:9/', /127\.0\.0\.0\/8, loopback/],
  ['http://2130706433/', /127\.0\.0\.0\/8/],
  ['http://0x7f.1/', /127\.0\.0\.0\/8/],
  ['http://0177.0.0.1/', /127\.0\.0\.0\/8/],
  ['http://127.0.0.1../', /127\.0\.0\.0\/8/],
  ['http://①②⑦.⓪.⓪.①/', /127\.0\.0\.0\/8/],
  ['http://%31%32%37.0.0.1/', /127\.0\.0\.0\/8/],
  ['http://127.0.0\u00ad.1/', /127\.0\.0\.0\/8/],
  ['http:/\\127.0.0.1/', /127\.0\.0\.0\/8/],
  ['http://127.0.0.1\\@example.com/', /127\.0\.0\.0\/8/],
  ['http://localhost./', /127\.0\.0\.0\/8/],
  ['http://a.localhost/', /127\.0\.0\.0\/8/],
  ['http://169.254.169.254/latest/meta-data', /169\.254\.0\.0\/16, link-local, cloud metadata/],
  ['http://168.63.129.16/', /168\.63\.129\.16\/32/],
  ['http://[::1]/', /::1\/128, loopback/],
  ['http://[::ffff:10.0.0.1]/', /10\.0\.0\.0\/8/],
  ['http://[64:ff9b::10.0.0.1]/', /embeds an IPv4 address in 10\.0\.0\.0\/8/],
  ['http://[2002:a00:1::]/', /embeds an IPv4 address in 10\.0\.0\.0\/8/],
  ['http://[2001:0:a00:1::]/', /embeds an IPv4 address in 10\.0\.0\.0\/8/],
  ['http://[4000::1]/', /outside 2000::\/3/],
  ['http://example.com:0/', /port 0/],
];

function assertRefused(answer: Answer, url: string, reason: RegExp): void {
  assert.equal(answer.status, 422, `${url}: ${answer.status} ${answer.text}`);
  assert.match(answer.json.detail, reason, url);
  assert.deepEqual(
    answer.json.errors.map(({ parameter }: Json) => parameter),
    ['url'],
  );
}

/** A port of loopback that counts who comes. */
async function listener(): Promise<AsyncDisposable & { port: number; connections: () => number }> {
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** This machine's own name, when it leads inside. */
async function ownName(): Promise<string | null> {
  const found = await lookup(hostname(), { all: true }).catch(() => []);
  return found.some(({ address }) => /^(?:127|10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\./.test(address))
    ? hostname()
    : null;
}

/** What one event to a webhook at a URL came to. The webhook was made while loopback was open. */
async function refusedDelivery(errand: Errand, { emitter, webhook }: { emitter: Json; webhook: Json }): Promise<Json> {
  const { data } = await errand.client.get(`/v1/workflows/${emitter.id}`);
  await errand.send(data, { to: webhook.url });
  const [delivery] = await deliveries(errand, webhook.id, 'exhausted');
  return delivery;
}

async function emitterTo(errand: Errand, url: string): Promise<{ emitter: Json; webhook: Json }> {
  const emitter = await errand.workflow(EMIT_BODY);
  const webhook = await createWebhook(errand, { url });
  await errand.subscribe(emitter.id, webhook.id);
  return { emitter, webhook };
}

test('creating and changing refuse forbidden addresses', async () => {
  await using errand = await startErrand(CLOSED);
  const { client } = errand;
  const webhook = await client.post('/v1/webhooks', { url: PUBLIC_URL });
  for (const [url, reason] of REFUSED) {
    assertRefused(await client.request('POST', '/v1/webhooks', { url }), url, reason);
    assertRefused(await client.request('POST', `/v1/webhooks?url=${encodeURIComponent(url)}`), url, reason);
    assertRefused(await client.request('PUT', `/v1/webhooks/${webhook.id}`, { url, name: 'changed' }), url, reason);
  }
  const { data } = await client.get('/v1/webhooks');
  assert.deepEqual(
    data.map(({ id, url, name }: Json) => [id, url, name]),
    [[webhook.id, PUBLIC_URL, null]],
  );
});

test('a delivery to a forbidden address makes no connection', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '127.0.0.0/8,::1/128' });
  await using inside = await listener();
  const hosts = ['127.0.0.1', '2130706433', '127.0.0.1.', 'localhost', '[::ffff:127.0.0.1]', '[::1]', await ownName()];
  const pairs = [];
  for (const host of hosts.filter((each) => each !== null)) {
    pairs.push(await emitterTo(errand, `http://${host}:${inside.port}/hook`));
  }
  await errand.restart(CLOSED);
  for (const pair of pairs) {
    const { url, id } = pair.webhook;
    const delivery = await refusedDelivery(errand, pair);
    const [attempt, ...more] = delivery.attempts;
    assert.deepEqual([attempt.outcome, attempt.status, more.length], ['forbidden', null, 0], url);
    assert.deepEqual([attempt.response_body, attempt.response_headers], ['', {}], url);
    assert.equal(attempt.timing.connect_ms, null, url);
    const [record] = await errand.errors(id, 1);
    assert.equal(record.event.error.code, 'DeliveryRefused', url);
  }
  assert.equal(inside.connections(), 0);

  // The listener is alive: what is open reaches it.
  await errand.restart({ ERRAND_ALLOW_TARGETS: '127.0.0.0/8' });
  const { data } = await errand.client.get(`/v1/workflows/${pairs[0]?.emitter.id}`);
  await errand.send(data, { n: 1 });
  await deliveries(errand, pairs[0]?.webhook.id, 'delivered');
  assert.equal(inside.connections(), 1);
});

test('a test of a forbidden address says so', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '127.0.0.0/8' });
  await using inside = await listener();
  const urls = ['127.0.0.1', '0x7f.1', 'localhost'].map((host) => `http://${host}:${inside.port}/`);
  const webhooks = await Promise.all(urls.map((url) => createWebhook(errand, { url })));
  await errand.restart(CLOSED);
  for (const { id, url } of webhooks) {
    const { data } = (await errand.client.request('POST', `/v1/webhooks/${id}/test`, {})).json;
    assert.equal(data.delivered, false, url);
    assert.deepEqual([data.attempt.outcome, data.attempt.status], ['forbidden', null], url);
    assert.match(
      data.attempt.detail,
      /^Refused before anything was sent: .*127\.0\.0\.0\/8, loopback.* ERRAND_ALLOW_TARGETS/,
    );
    assert.match(data.follows, /DeliveryRefused/);
    assert.deepEqual([data.attempt.response_body, data.request.url], ['', url]);
  }
  assert.equal(inside.connections(), 0);
  const ledger = (await errand.client.get('/v1/ledger')).data;
  assert.equal(ledger.deliveries.total, 0, 'nothing of it is kept');

  await errand.restart({ ERRAND_ALLOW_TARGETS: '127.0.0.0/8' });
  const { data } = (await errand.client.request('POST', `/v1/webhooks/${webhooks[0]?.id}/test`, {})).json;
  assert.deepEqual([data.delivered, data.attempt.status, inside.connections()], [true, 200, 1]);
});

test('a name that leads inside is made and refused', async (context: TestContext) => {
  const name = await ownName();
  if (name === null) {
    context.skip("this machine's name does not lead to a private address");
    return;
  }
  await using errand = await startErrand(CLOSED);
  await using inside = await listener();
  // Where a name leads is not asked when it is set: it may lead elsewhere by the time of a delivery.
  const pair = await emitterTo(errand, `http://${name}:${inside.port}/`);
  const delivery = await refusedDelivery(errand, pair);
  assert.match(delivery.attempts[0].detail, /the name resolves to what is not allowed \(the address lies in/);
  const tested = (await errand.client.request('POST', `/v1/webhooks/${pair.webhook.id}/test`, {})).json.data;
  assert.equal(tested.attempt.outcome, 'forbidden');
  assert.equal(inside.connections(), 0);
});

test('a refusal tells nothing of what listens', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '127.0.0.0/8' });
  const shut = await listener();
  const port = shut.port;
  await shut[Symbol.asyncDispose]();
  await using inside = await listener();
  const pairs = [];
  for (const at of [inside.port, port]) pairs.push(await emitterTo(errand, `http://localhost:${at}/`));
  await errand.restart(CLOSED);
  const seen = [];
  for (const pair of pairs) {
    const { attempts, state } = await refusedDelivery(errand, pair);
    const [{ started_at_ms: _, took_ms: __, ...attempt }] = withoutIso(attempts);
    seen.push({ state, ...attempt });
  }
  assert.deepEqual(seen[0], seen[1]);
  assert.equal(inside.connections(), 0);
});

test('a redirect to a forbidden address is not followed', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '127.0.0.1/32' });
  await using inside = await listener();
  const server = createHttpServer((_, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${inside.port}/` }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { emitter, webhook } = await emitterTo(errand, url);
    await errand.send(emitter, { n: 1 });
    const [delivery] = await deliveries(errand, webhook.id, 'retrying');
    assert.equal(delivery.attempts[0].status, 307);
    assert.equal(inside.connections(), 0);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('what is not for events is closed where its address is open', async () => {
  const metrics = await freePort();
  await using errand = await startErrand({
    ERRAND_ALLOW_TARGETS: '127.0.0.1/32,::1/128',
    ERRAND_METRICS_PORT: `${metrics}`,
  });
  await using inside = await listener();
  assert.equal((await fetch(`http://127.0.0.1:${metrics}/metrics`)).status, 200);
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]', '[::1]']) {
    const url = `http://${host}:${metrics}/metrics`;
    assertRefused(await errand.client.request('POST', '/v1/webhooks', { url }), url, /it is where the server listens/);
  }
  const asking = await errand.workflow(SEND_BODY);
  const targets = [`http://127.0.0.1:${inside.port}/`, `http://127.0.0.1:${metrics}/metrics`];
  for (const url of targets) await errand.send(asking, { url });
  await errand.settled();
  const sent = await Promise.all((await requestsOf(errand, '', 2)).map((one) => wholeOf(errand, one)));
  assert.deepEqual(sent.map(({ state, attempts }) => [state, attempts[0].outcome]).sort(), [
    ['delivered', 'answered'],
    ['exhausted', 'forbidden'],
  ]);
  assert.equal(inside.connections(), 1);
});

test('a trigger of the same server is reached where its address is open', async () => {
  for (const range of ['127.0.0.1/32', '10.0.0.0/8']) {
    await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: range });
    const hooked = await errand.workflow('export default () => 1;', { triggers: [{ type: 'http' }] });
    const url = hooked.triggers[0].endpoint_url;
    await errand.send(await errand.workflow(SEND_BODY), { url });
    await errand.settled();
    const [sent] = await requestsOf(errand, '', 1);
    assert.equal(sent.state, range === '127.0.0.1/32' ? 'delivered' : 'exhausted');
  }
});

test('a name of this machine leads to no server of ours', async (context: TestContext) => {
  const name = await ownName();
  if (name === null) {
    context.skip("this machine's name does not lead to a private address");
    return;
  }
  const metrics = await freePort();
  await using errand = await startErrand({
    ERRAND_ALLOW_TARGETS: '0.0.0.0/0,::/0',
    ERRAND_METRICS_PORT: `${metrics}`,
  });
  const pair = await emitterTo(errand, `http://${name}:${metrics}/metrics`);
  const { attempts } = await refusedDelivery(errand, pair);
  assert.match(attempts[0].detail, /the name resolves to what is not allowed \(it is where the server listens\)/);
});

test('metadata services are closed under wide ranges', async () => {
  await using errand = await startErrand({ ERRAND_ALLOW_TARGETS: '0.0.0.0/0,::/0' });
  const hosts = ['169.254.169.254', '2852039166', '[fd00:ec2::254]', '[::ffff:a9fe:a9fe]', '100.100.100.200'];
  for (const host of [...hosts, 'metadata.google.internal', 'METADATA.google.internal.']) {
    const url = `http://${host}/latest/meta-data/`;
    assertRefused(await errand.client.request('POST', '/v1/webhooks', { url }), url, /cloud's metadata service/);
  }
});

test('no header of a webhook names another host', async () => {
  await using errand = await startErrand(CLOSED);
  for (const name of [
    'host',
    'Host',
    'HOST',
    'content-length',
    'transfer-encoding',
    'connection',
    'proxy-authorization',
  ]) {
    const answer = await errand.client.request('POST', '/v1/webhooks', { url: PUBLIC_URL, headers: { [name]: 'x' } });
    assert.ok([400, 422].includes(answer.status), `${name}: ${answer.status} ${answer.text}`);
    assert.match(answer.json.detail, new RegExp(name, 'i'));
  }
  for (const value of ['a\r\nhost: inside', 'a\nb', 'a\0b']) {
    const answer = await errand.client.request('POST', '/v1/webhooks', { url: PUBLIC_URL, headers: { 'x-a': value } });
    assert.ok([400, 422].includes(answer.status), `${JSON.stringify(value)}: ${answer.text}`);
  }
  assert.deepEqual((await errand.client.get('/v1/webhooks')).data, []);
});
