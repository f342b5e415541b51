// A source whose vendor signs the address that it calls, together with what it sends there, as Twilio does: it expects an
// endpoint without a path.

import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { callAtHost, type Heard } from '../support/at-host.ts';
import type { Json } from '../support/client.ts';
import { type Acme, startAcme } from '../support/sources/acme.ts';
import { emissions } from '../support/sources/sources.ts';

const HOSTS = { ERRAND_ENDPOINT_URL: 'https://*.hooks.example.com' };
const TOKEN = 'a token of the account';
const MESSAGE = { MessageSid: 'SM1', From: '+4915112345', To: '+4930123', Body: 'Grüße & more = 1+1', NumMedia: '0' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

async function deployed(acme: Acme): Promise<Json> {
  acme.vendor.on('POST /numbers', { status: 201, body: { sid: 'PN1' } });
  acme.vendor.on('DELETE /numbers/PN1', { status: 204 });
  return acme.source('new-sms', { app: acme.account, authToken: TOKEN });
}

/** The address that the vendor was given, as a client spells it. */
const givenTo = (acme: Acme): URL => new URL(acme.vendor.of('POST /numbers').at(-1)?.body.smsUrl);

function sign(url: string, fields: Readonly<Record<string, string>> = {}, token = TOKEN): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha1', token)
    .update(url + sorted.flat().join(''))
    .digest('base64');
}

/** Calls the address with the form, as the vendor does. */
function sendForm(acme: Acme, fields: Readonly<Record<string, string>>, signature?: string): Promise<Heard> {
  const { href, host, pathname } = givenTo(acme);
  const headers = { ...FORM, 'X-Acme-Signature': signature ?? sign(href, fields) };
  return callAtHost(acme.errand.url, host, { path: pathname, headers, body: new URLSearchParams(fields).toString() });
}

test('a form signed with its address is an event', async () => {
  await using acme = await startAcme(HOSTS);
  const source = await deployed(acme);
  assert.equal(acme.vendor.of('POST /numbers')[0]?.body.smsUrl, source.endpoint_url);
  assert.equal(givenTo(acme).href, `${source.endpoint_url}/`);
  const { status, text, headers } = await sendForm(acme, MESSAGE);
  assert.deepEqual([status, text, headers['content-type']], [200, '<Response></Response>', 'text/xml']);
  const [{ event, metadata }] = await emissions(acme.errand, source.id, 1);
  assert.deepEqual([event, metadata.summary], [MESSAGE, 'New message from +4915112345']);
});

test('a body signed by its hash is an event', async () => {
  await using acme = await startAcme(HOSTS);
  const source = await deployed(acme);
  const body = JSON.stringify({ ...MESSAGE, n: 1.5 });
  const { href, host } = givenTo(acme);
  const query = `?bodySHA256=${createHash('sha256').update(body).digest('hex')}`;
  const headers = { 'content-type': 'application/json', 'X-Acme-Signature': sign(href + query) };
  const send = (text: string): Promise<Heard> =>
    callAtHost(acme.errand.url, host, { path: `/${query}`, headers, body: text });
  assert.equal((await send(body)).status, 200);
  assert.equal((await send(body.replace('1.5', '2.5'))).status, 401, 'the hash is of another body');
  const [{ event }] = await emissions(acme.errand, source.id, 1);
  assert.deepEqual(event, { ...MESSAGE, n: 1.5 });
});

test('what is signed otherwise is no event', async () => {
  await using acme = await startAcme(HOSTS);
  const source = await deployed(acme);
  const { href } = givenTo(acme);
  const signatures = [
    '',
    sign(source.endpoint_url, MESSAGE),
    sign(href, { ...MESSAGE, Body: 'other' }),
    sign(href, MESSAGE, 'another token'),
    sign(`${href}?`, MESSAGE),
  ];
  for (const signature of signatures) assert.equal((await sendForm(acme, MESSAGE, signature)).status, 401, signature);
  assert.equal((await sendForm(acme, MESSAGE)).status, 200);
  await acme.errand.settled();
  assert.equal((await emissions(acme.errand, source.id, 1)).length, 1);
});

test('an endpoint with a path fails such a check', async () => {
  await using acme = await startAcme();
  await deployed(acme);
  const { href, pathname } = givenTo(acme);
  const headers = { ...FORM, 'X-Acme-Signature': sign(href, MESSAGE) };
  const body = new URLSearchParams(MESSAGE).toString();
  const { status } = await callAtHost(acme.errand.url, givenTo(acme).host, { path: pathname, headers, body });
  assert.equal(status, 401, 'the vendor adds a slash to addresses without a path alone');
});
