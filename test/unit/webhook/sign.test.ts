import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { keyOf, newSecret, sign } from '../../../src/webhook/sign.ts';
import { SIGNED } from './vectors.ts';

const v1Only = SIGNED.filter(({ private_key }) => private_key === undefined);

test('Signatures equal the published ones', () => {
  assert.ok(v1Only.length >= 7);
  for (const { name, secret, secrets = [secret ?? ''], webhook_id, webhook_timestamp, body, expect } of v1Only) {
    const signable = { id: String(webhook_id), timestampS: Number(webhook_timestamp), body: Buffer.from(body) };
    assert.equal(sign({ secrets, ...signable }), expect, name);
  }
});

test('The independent library verifies our signatures', () => {
  const nowS = Math.floor(Date.now() / 1000);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.json(), (bytes, body) => {
      const secret = newSecret(bytes);
      const signature = sign({ secrets: [secret], id: 'emit1', timestampS: nowS, body: Buffer.from(body) });
      const headers = { 'webhook-id': 'emit1', 'webhook-timestamp': String(nowS), 'webhook-signature': signature };
      new Webhook(secret).verify(body, headers);
    }),
  );
});

test('During rotation both secrets verify, newest first', () => {
  const nowS = Math.floor(Date.now() / 1000);
  const [newest, oldest] = [newSecret(new Uint8Array(32).fill(1)), newSecret(new Uint8Array(32).fill(2))];
  const signable = { id: 'emit1', timestampS: nowS, body: Buffer.from('{}') };
  const signature = sign({ secrets: [newest, oldest], ...signable });
  const headers = { 'webhook-id': 'emit1', 'webhook-timestamp': String(nowS), 'webhook-signature': signature };
  for (const secret of [newest, oldest]) new Webhook(secret).verify('{}', headers);
  assert.equal(signature.split(' ')[0], sign({ secrets: [newest], ...signable }));
});

test('Bytes that are no text are signed unchanged', () => {
  const one = { id: 'a', timestampS: 1, body: Uint8Array.of(0xff) };
  const other = { id: 'a', timestampS: 1, body: Uint8Array.of(0xfe) };
  const secrets = [newSecret(new Uint8Array(32).fill(3))];
  assert.notEqual(sign({ secrets, ...one }), sign({ secrets, ...other }));
});

test('A new secret is 32 bytes in base64', () => {
  const secret = newSecret(new Uint8Array(32).fill(0xff));
  assert.equal(secret, `whsec_${'/'.repeat(42)}8=`);
  assert.equal(keyOf(secret).length, 32);
  assert.throws(() => newSecret(new Uint8Array(16)), /32 bytes/);
});

test('Nothing is signed without a secret', () => {
  const signable = { id: 'a', timestampS: 1, body: Buffer.from('{}') };
  for (const secrets of [[], [''], ['whsec_']]) assert.throws(() => sign({ secrets, ...signable }), /secret/);
});
