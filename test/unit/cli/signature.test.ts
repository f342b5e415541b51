import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusedSignature } from '../../../src/cli/listen/listen.ts';
import { explainSignature, reserialised, signV1 } from '../../../src/cli/listen/signature.ts';

const [OLD, NEW] = [`whsec_${'a'.repeat(44)}`, `whsec_${'b'.repeat(44)}`];
const NOW_S = 1_782_000_000;
const SENT = Buffer.from('{"total": 1.50,"of":"Ada"}\n');

function received(body: string | Buffer, more: { secrets?: string[]; nowS?: number; headers?: object } = {}) {
  const headers = {
    'Webhook-Id': 'k3x9qg4w9zl7un4',
    'Webhook-Timestamp': String(NOW_S),
    'Webhook-Signature': signV1(NEW, { id: 'k3x9qg4w9zl7un4', timestampS: NOW_S, body: SENT }),
    ...more.headers,
  };
  const { secrets = [OLD, NEW], nowS = NOW_S + 5 } = more;
  return explainSignature({ headers, body: Buffer.from(body), secrets, nowMs: nowS * 1000 });
}

test('a valid signature names its secret and its bytes', () => {
  const { verdict, lines } = received(SENT);
  assert.equal(verdict, 'genuine');
  assert.match(
    lines.join('\n'),
    /signed: k3x9qg4w9zl7un4\.1782000000\.<body>, the body being 27 bytes, SHA-256 \w{16}…/,
  );
  assert.match(lines.join('\n'), /with the secret whsec_bbbb…\n/);
  assert.doesNotMatch(lines.join('\n'), /b{5}/, 'no secret is shown whole');
});

test('an old timestamp is told apart from a wrong signature', () => {
  assert.equal(received(SENT, { nowS: NOW_S + 300 }).verdict, 'genuine');
  const late = received(SENT, { nowS: NOW_S + 301 });
  assert.deepEqual([late.verdict, /301 s ago/.test(late.lines.join())], ['stale', true]);
  assert.match(received(SENT, { nowS: NOW_S - 400 }).lines.join(), /400 s from now/);
});

test('a body that was serialised again is recognised', () => {
  const value = { a: [1, 'x, y: z'], b: null };
  const compact = Buffer.from(JSON.stringify(value));
  const signature = signV1(NEW, { id: 'k3x9qg4w9zl7un4', timestampS: NOW_S, body: compact });
  const headers = { 'Webhook-Signature': signature };
  for (const body of [JSON.stringify(value, null, 2), `${compact}\n`, JSON.stringify(value, null, '\t')]) {
    const { verdict, lines } = received(body, { headers });
    assert.equal(verdict, 'reserialised', body);
    assert.match(lines.join(), /check the bytes as they came/);
  }
  const python = Buffer.from('{"a": [1, "x, y: z"], "b": null}');
  const byPython = signV1(NEW, { id: 'k3x9qg4w9zl7un4', timestampS: NOW_S, body: python });
  assert.equal(received(compact, { headers: { 'Webhook-Signature': byPython } }).verdict, 'reserialised');
});

test('another secret, and what is no webhook’s request, are told', () => {
  const { verdict, lines } = received(SENT, { secrets: [OLD] });
  assert.equal(verdict, 'other_secret');
  assert.match(lines.join(), /no secret of these made the signature: whsec_aaaa…/);
  assert.equal(received('{"total": 2}').verdict, 'other_secret');
  assert.equal(received(SENT, { headers: { 'Webhook-Id': 'a.b' } }).verdict, 'malformed');
  const missing = received(SENT, { headers: { 'Webhook-Signature': '' } });
  assert.deepEqual(
    [missing.verdict, missing.lines[0]],
    ['malformed', 'the header webhook-signature is missing, or is there twice'],
  );
  assert.equal(received(Buffer.from([0xff, 0xfe])).verdict, 'other_secret');
});

test('what a second serialisation changes is shown', () => {
  assert.deepEqual(reserialised(SENT), { at: 9, was: ' 1.50,"of":"Ada"}\n', is: '1.5,"of":"Ada"}' });
  assert.equal(reserialised(Buffer.from('{"a":1}')), null);
  assert.equal(reserialised(Buffer.from('no JSON')), null);
  const of = { id: 'x', timestampS: NOW_S, secret: NEW, signature: 'v1,…' };
  assert.match(refusedSignature({ ...of, body: SENT }).join(), /from byte 9 on/);
  assert.match(refusedSignature({ ...of, body: Buffer.from('{"a":1}') }).join(), /that is not the reason/);
});
