import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createAddresses } from '../../../src/webhook/address.ts';
import { createGuardedClient } from '../../../src/webhook/client.ts';
import { ForbiddenTarget } from '../../../src/webhook/failure.ts';
import type { ResolveName } from '../../../src/webhook/names.ts';
import { standStill } from '../../support/wait.ts';
import { selfSigned } from './certificate.ts';
import { deliveryTo, httpReceiver, LOOPBACK, posterFor, reusable, silentReceiver, tlsReceiver } from './receivers.ts';

const loopbackOnly = createAddresses({ allowTargets: ['127.0.0.1/32'] });

/** Answers each call with the next of the given lists, and the last one for ever. */
function resolving(...answers: string[][]): ResolveName & { calls: () => number } {
  let calls = 0;
  const lookup: ResolveName = async () => {
    const addresses = answers[Math.min(calls++, answers.length - 1)] ?? [];
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return Object.assign(lookup, { calls: () => calls });
}

const FORBIDDEN_ANSWERS: [name: string, addresses: string[]][] = [
  ['one private', ['10.0.0.1']],
  ['one private among public', ['93.184.216.34', '10.0.0.1', '1.1.1.1']],
  ['private last', ['127.0.0.1', '169.254.169.254']],
  ['a mapped private', ['::ffff:169.254.169.254']],
  ['a link-local with a zone', ['127.0.0.1', 'fe80::1%eth0']],
  ['what is no address', ['127.0.0.1', 'example.com']],
];

for (const [name, answer] of FORBIDDEN_ANSWERS) {
  test(`A name is refused that resolves to ${name}`, async () => {
    await using receiver = await httpReceiver();
    await using poster = posterFor({ addresses: loopbackOnly, lookup: resolving(answer) });
    const attempt = await poster.post(deliveryTo(`http://receiver.test:${receiver.port}/`));
    assert.deepEqual([attempt.outcome, attempt.status], ['forbidden', null]);
    assert.match(attempt.detail, /^Refused before anything was sent: the name resolves to what is not allowed \(/);
    for (const address of answer) assert.equal(attempt.detail.includes(address), false);
    assert.equal(receiver.connections(), 0);
  });
}

test('A name is resolved once per connection', async () => {
  await using receiver = await httpReceiver();
  const lookup = resolving(['127.0.0.1'], ['127.0.0.2']);
  await using poster = posterFor({ addresses: loopbackOnly, lookup });
  const delivery = deliveryTo(`http://receiver.test:${receiver.port}/`);
  for (let n = 0; n < 3; n++) {
    assert.equal((await poster.post(delivery)).status, 200);
    await reusable();
  }
  assert.equal(lookup.calls(), 1, 'what is reused stays where it was judged');
});

test('A name that rebinds is judged anew', async () => {
  await using receiver = await httpReceiver((_, response) => response.writeHead(200, { connection: 'close' }).end());
  await using poster = posterFor({ addresses: loopbackOnly, lookup: resolving(['127.0.0.1'], ['127.0.0.2']) });
  const delivery = deliveryTo(`http://receiver.test:${receiver.port}/`);
  assert.equal((await poster.post(delivery)).outcome, 'answered');
  assert.equal((await poster.post(delivery)).outcome, 'forbidden');
  assert.equal(receiver.connections(), 1);
});

test('Where a socket ended up is judged again', async () => {
  await using receiver = await httpReceiver();
  // Passes in the lookup and fails on arrival, as an address would that the kernel led astray.
  let judged = 0;
  const addresses = {
    ...loopbackOnly,
    towards: async () => () =>
      judged++ === 0 ? { ok: true as const } : { ok: false as const, reason: 'it is elsewhere' },
  };
  await using poster = posterFor({ addresses, lookup: resolving(['127.0.0.1']) });
  const attempt = await poster.post(deliveryTo(`http://receiver.test:${receiver.port}/`));
  assert.equal(attempt.detail, 'Refused before anything was sent: it is elsewhere.');
  assert.equal(receiver.received.length, 0);
});

test('Literals are judged without a lookup', async () => {
  const lookup = resolving(['127.0.0.1']);
  await using poster = posterFor({ addresses: createAddresses({ allowTargets: [] }), lookup });
  for (const host of ['127.0.0.1', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', 'localhost']) {
    assert.equal((await poster.post(deliveryTo(`http://${host}:1/`))).outcome, 'forbidden', host);
  }
  assert.equal(lookup.calls(), 0);
});

test('The bare dispatcher refuses literals too', async () => {
  const client = createGuardedClient({ addresses: createAddresses({ allowTargets: [] }) });
  for (const origin of ['http://127.0.0.1:1', 'https://[::1]:1', 'http://169.254.169.254']) {
    await assert.rejects(client.dispatcher.request({ origin, path: '/', method: 'GET' }), ForbiddenTarget);
  }
  await client.close();
});

test('Refusals look alike whether anything listens', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor({
    addresses: createAddresses({ allowTargets: [] }),
    lookup: resolving(['127.0.0.1']),
  });
  const open = await poster.post(deliveryTo(`http://receiver.test:${receiver.port}/`));
  const shut = await poster.post(deliveryTo('http://receiver.test:1/'));
  assert.equal(open.detail, shut.detail);
  assert.equal(receiver.connections(), 0);
});

test('A failing lookup is refused as DNS', async () => {
  const failing = async () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
  for (const lookup of [failing, resolving([])]) {
    await using poster = posterFor({ lookup });
    const attempt = await poster.post(deliveryTo('http://receiver.test/'));
    assert.equal(attempt.outcome, 'dns');
    assert.match(attempt.detail, /^The name could not be looked up/);
  }
});

test('Lookups of one name are shared', async () => {
  await using receiver = await httpReceiver();
  const answers: ((addresses: { address: string; family: number }[]) => void)[] = [];
  const lookup: ResolveName = () => new Promise((resolve) => answers.push(resolve));
  await using poster = posterFor({ lookup });
  const delivery = deliveryTo(`http://receiver.test:${receiver.port}/`);
  const posts = Promise.all(Array.from({ length: 8 }, () => poster.post(delivery)));
  while (answers.length === 0) await new Promise(setImmediate);
  for (const answer of answers) answer([{ address: '127.0.0.1', family: 4 }]);
  assert.ok((await posts).every(({ status }) => status === 200));
  assert.equal(answers.length, 1);
});

test('The next address is tried when one refuses', async () => {
  await using receiver = await httpReceiver();
  // The receiver listens on 127.0.0.1 alone.
  await using poster = posterFor({ lookup: resolving(['127.0.0.2', '127.0.0.1']) });
  assert.equal((await poster.post(deliveryTo(`http://receiver.test:${receiver.port}/`))).status, 200);
});

test('TLS needs a certificate that is trusted', async () => {
  const certificate = selfSigned('DNS:receiver.test,IP:127.0.0.1');
  await using receiver = await tlsReceiver(certificate);
  const named = `https://receiver.test:${receiver.port}/`;
  const lookup = resolving(['127.0.0.1']);

  await using strict = posterFor({ lookup });
  const refused = await strict.post(deliveryTo(named));
  assert.equal(refused.outcome, 'tls');
  assert.equal(
    refused.detail,
    'The TLS handshake failed: the certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT); for an authority of your own, set NODE_EXTRA_CA_CERTS of the server to its file.',
  );

  await using trusting = posterFor({ lookup, ca: certificate.cert });
  for (const url of [named, receiver.url, named]) assert.equal((await trusting.post(deliveryTo(url))).status, 200);
  const other = await trusting.post(deliveryTo(`https://other.test:${receiver.port}/`));
  assert.equal(
    other.detail,
    'The TLS handshake failed: the certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID).',
  );
});

test('Plain HTTP on a TLS port is tls', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  const attempt = await poster.post(deliveryTo(receiver.url.replace('http:', 'https:')));
  assert.equal(attempt.outcome, 'tls');
});

test('A close during the handshake is a reset', async () => {
  await using receiver = await silentReceiver('https');
  await using poster = posterFor();
  const pending = poster.post(deliveryTo(receiver.url));
  while (receiver.connections() === 0) await new Promise(setImmediate);
  await receiver[Symbol.asyncDispose]();
  assert.equal((await pending).outcome, 'reset');
});

test('A TLS socket that strayed gets no handshake', async () => {
  await using receiver = await tlsReceiver(selfSigned('IP:127.0.0.1'));
  let judged = 0;
  const open = createAddresses({ allowTargets: LOOPBACK });
  const addresses = {
    ...open,
    towards: async () => () =>
      judged++ === 0 ? { ok: true as const } : { ok: false as const, reason: 'it is elsewhere' },
  };
  await using poster = posterFor({ addresses, lookup: resolving(['127.0.0.1']) });
  assert.equal((await poster.post(deliveryTo(`https://receiver.test:${receiver.port}/`))).outcome, 'forbidden');
});

test('A webhook has its own limit of time', async () => {
  await using receiver = await silentReceiver('http');
  await using poster = posterFor({ addresses: loopbackOnly, timeoutMs: 60_000 });
  const delivery = deliveryTo(`http://127.0.0.1:${receiver.port}/`);
  const webhook = delivery.webhook && {
    ...delivery.webhook,
    settings: { ...delivery.webhook.settings, timeoutMs: 50 },
  };
  const attempt = await poster.post({ ...delivery, webhook });
  assert.equal(attempt.outcome, 'timeout');
  assert.ok(attempt.tookMs < 30_000, `${attempt.tookMs} ms`);
});

test('An answer that came in time counts, however late it is read', async () => {
  const timeoutMs = 400;
  await using receiver = await httpReceiver((_, response) => {
    response.end('taken');
    standStill(timeoutMs);
  });
  await using poster = posterFor({ addresses: loopbackOnly, timeoutMs });
  const attempt = await poster.post(deliveryTo(receiver.url));
  assert.deepEqual([attempt.outcome, attempt.status], ['answered', 200], 'sent once more, it would arrive twice');
});

test('A connection that came about in time counts, however late that is seen', async () => {
  await using receiver = await httpReceiver();
  const connectTimeoutMs = 400;
  const addresses = {
    ...loopbackOnly,
    towards: (port: number) => {
      // Behind the begin of the connection, in the same turn.
      queueMicrotask(() => process.nextTick(() => standStill(connectTimeoutMs)));
      return loopbackOnly.towards(port);
    },
  };
  await using poster = posterFor({ addresses, connectTimeoutMs, timeoutMs: 60_000 });
  assert.equal((await poster.post(deliveryTo(receiver.url))).status, 200);
});

test('A connection outlives the limit of its begin', async () => {
  await using receiver = await httpReceiver();
  const connectTimeoutMs = 100;
  await using poster = posterFor({ addresses: loopbackOnly, connectTimeoutMs });
  assert.equal((await poster.post(deliveryTo(receiver.url))).status, 200);
  await setTimeout(2 * connectTimeoutMs);
  assert.equal((await poster.post(deliveryTo(receiver.url))).status, 200);
  assert.equal(receiver.connections(), 1);
});
