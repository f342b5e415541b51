// A request that code asked for, as it leaves: nothing of it is added to but what it does not say itself.

import { deepEqual, equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import type { ClaimedDelivery } from '../../../src/domain/delivery/delivery.ts';
import { HTTP } from '../../../src/domain/emission.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { deliveryTo, httpReceiver, posterFor } from './receivers.ts';

function askedFor(url: string, more: object = {}): ClaimedDelivery {
  const body = Buffer.from(JSON.stringify({ method: 'GET', url, headers: {}, ...more }));
  return { ...deliveryTo('', { emission: { name: HTTP, body } }), kind: 'http', webhook: null };
}

test('The head has what code says and little else', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  await poster.post(askedFor(`${receiver.url}?a=b`, { method: 'DELETE', headers: { 'x-own': 'é' } }));
  const { method, url, headers, body } = receiver.received[0] ?? {};
  deepEqual([method, url, body?.length], ['DELETE', '/hook?a=b', 0]);
  deepEqual(headers, {
    host: `127.0.0.1:${receiver.port}`,
    connection: 'keep-alive',
    'user-agent': 'errand/1.2.3',
    'accept-encoding': 'identity',
    'idempotency-key': 'abcde12345',
    'x-own': 'é',
  });
});

test('An address may be longer than a webhook’s', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  const long = `${receiver.url}?${'a'.repeat(LIMITS.urlChars)}`;
  equal((await poster.post(askedFor(long))).status, 200);
  const tooLong = await poster.post(askedFor(`${receiver.url}?${'a'.repeat(LIMITS.requestUrlChars)}`));
  equal(tooLong.outcome, 'forbidden');
});

for (const [what, url] of [
  ['credentials', 'http://user:secret@127.0.0.1:1/'],
  ['another scheme', 'ftp://127.0.0.1/'],
  ['a private address', 'http://10.0.0.1/'],
] as const) {
  test(`An address with ${what} is refused unasked`, async () => {
    await using poster = posterFor();
    const { outcome, detail } = await poster.post(askedFor(url));
    equal(outcome, 'forbidden');
    match(detail, /^(?!.*secret)/);
  });
}

test('The connection’s own headers are not sent', async () => {
  await using receiver = await httpReceiver();
  await using poster = posterFor();
  for (const name of ['host', 'Transfer-Encoding', 'content-length', 'upgrade', 'proxy-authorization']) {
    const { status, detail } = await poster.post(askedFor(receiver.url, { headers: { [name]: 'private' } }));
    equal(status, null);
    match(detail, new RegExp(`"${name}" is the connection’s own`));
    match(detail, /^(?!.*private)/);
  }
  const { status } = await poster.post(askedFor(receiver.url, { headers: { 'x-split': 'a\r\nhost: b' } }));
  equal(status, null);
  equal(receiver.received.length, 0);
});
