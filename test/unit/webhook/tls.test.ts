// Certificates and protocols that a request must not be trusted to. Self-signed ones, and names that a trusted one is not
// for, are in client.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TlsOptions } from 'node:tls';
import { failureOf } from '../../../src/webhook/failure.ts';
import { type Certificate, selfSigned, signedBy } from './certificate.ts';
import { deliveryTo, httpReceiver, posterFor, tlsReceiver } from './receivers.ts';

const NAMES = 'DNS:receiver.test,IP:127.0.0.1';
const authority = selfSigned('DNS:authority.test');
const other = selfSigned('DNS:authority.test');
const good = signedBy(authority, NAMES, 1);

const REFUSED: [name: string, certificate: Certificate, ca: string | undefined, detail: RegExp][] = [
  [
    'that has expired',
    signedBy(authority, NAMES, -1),
    authority.cert,
    /the certificate has expired \(CERT_HAS_EXPIRED/,
  ],
  [
    'of an authority unknown',
    good,
    undefined,
    /\((UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)\); .*NODE_EXTRA_CA_CERTS/,
  ],
  ['of an authority of the same name', good, other.cert, /The TLS handshake failed: /],
  ['with its unknown chain', { ...good, cert: good.cert + authority.cert }, undefined, /chain ends in an unknown/],
  [
    'for a name that begins alike',
    signedBy(authority, 'DNS:receiver.test.evil.test', 1),
    authority.cert,
    /another name/,
  ],
  ['for another address', signedBy(authority, 'IP:127.0.0.2', 1), authority.cert, /for another name/],
  ['that names none', signedBy(authority, 'email:a@receiver.test', 1), authority.cert, /for another name/],
];

for (const [name, certificate, ca, detail] of REFUSED) {
  test(`No request goes to a certificate ${name}`, async () => {
    let requests = 0;
    await using receiver = await tlsReceiver(certificate, { onRequest: () => requests++ });
    await using poster = posterFor({ ca, lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
    for (const url of [receiver.url, `https://receiver.test:${receiver.port}/`]) {
      const attempt = await poster.post(deliveryTo(url));
      assert.equal(attempt.outcome, 'tls', attempt.detail);
      assert.match(attempt.detail, detail);
    }
    assert.deepEqual([requests, receiver.connections()], [0, 2]);
  });
}

test('A certificate of a trusted authority is taken', async () => {
  await using receiver = await tlsReceiver(good);
  await using poster = posterFor({ ca: authority.cert });
  assert.equal((await poster.post(deliveryTo(receiver.url))).status, 200);
});

const ODD: [name: string, options: TlsOptions][] = [
  ['speaks TLS 1.1 alone', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }],
  ['wants a certificate of ours', { requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' }],
];

for (const [name, options] of ODD) {
  test(`A receiver that ${name} fails in TLS`, async () => {
    await using receiver = await tlsReceiver(good, { options });
    await using poster = posterFor({ ca: authority.cert });
    const attempt = await poster.post(deliveryTo(receiver.url));
    assert.deepEqual([attempt.outcome, attempt.status], ['tls', null], attempt.detail);
  });
}

test('An alert after the handshake is tls too', async () => {
  const alert = Object.assign(new Error('alert'), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' });
  assert.deepEqual(failureOf(alert, 'sent'), {
    outcome: 'tls',
    detail: `The receiver ended the secure connection before an answer came (${alert.code}).`,
  });
});

test('HTTP and TLS at the wrong ports both fail', async () => {
  await using plain = await httpReceiver();
  await using secure = await tlsReceiver(good);
  await using poster = posterFor({ ca: authority.cert });
  const toPlain = await poster.post(deliveryTo(plain.url.replace('http:', 'https:')));
  assert.equal(toPlain.outcome, 'tls');
  assert.match(toPlain.detail, /^The TLS handshake failed: no secure connection came about/);
  const toSecure = await poster.post(deliveryTo(secure.url.replace('https:', 'http:')));
  assert.deepEqual([toSecure.outcome, toSecure.status], ['reset', null]);
  assert.equal(plain.received.length, 0);
});
