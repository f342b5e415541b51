import assert from 'node:assert/strict';
import { createHmac, createPublicKey, verify as verifyEd25519 } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import type { SignatureScheme, SigningSecret } from '../../../src/domain/resource.ts';
import { hmacSha256 } from '../../../src/webhook/hmac.ts';
import { createSigner, newSecret, newSigningKey } from '../../../src/webhook/sign.ts';
import { SIGNED } from './vectors.ts';

const sign = createSigner();
const BOTH: readonly SignatureScheme[] = ['v1', 'v1a'];
const SIGNABLE = { id: 'emit1', timestampS: 1_700_000_000, body: Buffer.from('{}') };

function secretsOf(...secrets: (string | undefined)[]): SigningSecret[] {
  return secrets.flatMap((secret) => (secret === undefined ? [] : [{ secret, publicKey: null, untilMs: null }]));
}

const [newest, older, oldest] = [3, 2, 1].map((n) => newSecret(new Uint8Array(32).fill(n))) as [string, string, string];
const [newestKey, olderKey] = [5, 4].map((n) => newSigningKey(new Uint8Array(32).fill(n)).secret) as [string, string];

test('Signatures equal the published ones, both schemes', () => {
  assert.ok(SIGNED.length >= 8 && SIGNED.some(({ expect }) => expect.includes('v1a,')));
  for (const { name, secret, secrets = [], private_key, webhook_id, webhook_timestamp, body, expect } of SIGNED) {
    const by = { secrets: secretsOf(secret, ...secrets, private_key), schemes: BOTH, nowMs: 0 };
    const signable = { id: String(webhook_id), timestampS: Number(webhook_timestamp), body: Buffer.from(body) };
    assert.equal(sign(signable, by), expect, name);
    assert.equal(sign(signable, by), expect, `${name}, with a key that is kept`);
  }
});

test('The independent library verifies our signatures', () => {
  const nowS = Math.floor(Date.now() / 1000);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.json(), (bytes, body) => {
      const secret = newSecret(bytes);
      const by = { secrets: secretsOf(secret), schemes: BOTH, nowMs: 0 };
      const signature = sign({ id: 'emit1', timestampS: nowS, body: Buffer.from(body) }, by);
      const headers = { 'webhook-id': 'emit1', 'webhook-timestamp': String(nowS), 'webhook-signature': signature };
      new Webhook(secret).verify(body, headers);
    }),
  );
});

test('The public key that is shown verifies v1a', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array(), (seed, body) => {
      const { secret, publicKey } = newSigningKey(seed);
      const by = { secrets: secretsOf(secret), schemes: BOTH, nowMs: 0 };
      const [version, signature = ''] = sign({ id: 'a', timestampS: 7, body }, by).split(',');
      const x = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('base64url');
      const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
      assert.equal(version, 'v1a');
      const signed = Buffer.concat([Buffer.from('a.7.'), body]);
      assert.ok(verifyEd25519(null, signed, key, Buffer.from(signature, 'base64')));
    }),
    { numRuns: 20 },
  );
});

test('A new signing key has the published form', () => {
  const published = SIGNED.find(({ public_key }) => public_key);
  const seed = Buffer.from(published?.private_key?.slice('whsk_'.length) ?? '', 'base64').subarray(0, 32);
  assert.deepEqual(newSigningKey(seed), { secret: published?.private_key, publicKey: published?.public_key });
  assert.throws(() => newSigningKey(new Uint8Array(31)), /32 bytes/);
});

test('Only the schemes asked for sign, v1 first', () => {
  const secrets = secretsOf(newestKey, newest, olderKey, older, oldest);
  const versions = (schemes: readonly SignatureScheme[]) => sign(SIGNABLE, { secrets, schemes, nowMs: 0 }).split(' ');
  const alone = (secret: string) => sign(SIGNABLE, { secrets: secretsOf(secret), schemes: BOTH, nowMs: 0 });
  const v1 = [newest, older, oldest].map(alone);
  const v1a = [newestKey, olderKey].map(alone);
  assert.deepEqual(versions(['v1']), v1);
  assert.deepEqual(versions(['v1a']), v1a);
  assert.deepEqual(versions(['v1a', 'v1']), [...v1, ...v1a]);
});

test('A secret signs until its time is over', () => {
  const secrets = [
    { secret: newest, publicKey: null, untilMs: null },
    { secret: older, publicKey: null, untilMs: 1000 },
    { secret: newestKey, publicKey: null, untilMs: 2000 },
  ];
  const count = (nowMs: number) => sign(SIGNABLE, { secrets, schemes: BOTH, nowMs }).split(' ').length;
  assert.deepEqual([999, 1000, 1999, 2000].map(count), [3, 2, 2, 1]);
});

test('During rotation both secrets verify, newest first', () => {
  const timestampS = Math.floor(Date.now() / 1000);
  const signable = { ...SIGNABLE, timestampS };
  const signature = sign(signable, { secrets: secretsOf(newest, oldest), schemes: ['v1'], nowMs: 0 });
  const headers = { 'webhook-id': 'emit1', 'webhook-timestamp': String(timestampS), 'webhook-signature': signature };
  for (const secret of [newest, oldest]) new Webhook(secret).verify('{}', headers);
});

test('Bytes that are no text are signed unchanged', () => {
  for (const secret of [newest, newestKey]) {
    const by = { secrets: secretsOf(secret), schemes: BOTH, nowMs: 0 };
    const [one, other] = [0xff, 0xfe].map((byte) => sign({ ...SIGNABLE, body: Uint8Array.of(byte) }, by));
    assert.notEqual(one, other);
  }
});

test('A new secret is 32 bytes in base64', () => {
  const secret = newSecret(new Uint8Array(32).fill(0xff));
  assert.equal(secret, `whsec_${'/'.repeat(42)}8=`);
  assert.throws(() => newSecret(new Uint8Array(16)), /32 bytes/);
});

test('Nothing is signed without a good secret', () => {
  const mixed = `whsk_${Buffer.alloc(64, 7).toString('base64')}`;
  const bad = [[], [''], ['whsec_'], ['whsk_'], [`whsk_${Buffer.alloc(63).toString('base64')}`], [mixed]];
  for (const secrets of bad) {
    const by = { secrets: secretsOf(...secrets), schemes: BOTH, nowMs: 0 };
    assert.throws(
      () => sign(SIGNABLE, by),
      (error: Error) => /secret|key/.test(error.message) && !error.message.includes(mixed.slice(5, 20)),
      String(secrets),
    );
  }
  const over = { secrets: [{ secret: newest, publicKey: null, untilMs: 1 }], schemes: BOTH, nowMs: 1 };
  assert.throws(() => sign(SIGNABLE, over), /no signing secret/);
  assert.throws(() => sign(SIGNABLE, { secrets: secretsOf(newest), schemes: ['v1a'], nowMs: 0 }), /no signing secret/);
});

test('More keys than are kept still sign', () => {
  const secrets = Array.from({ length: 10_050 }, (_, n) =>
    newSecret(Buffer.concat([Buffer.alloc(28), Buffer.from(Uint32Array.of(n).buffer)])),
  );
  const fresh = createSigner();
  const first = (signer: typeof sign) =>
    signer(SIGNABLE, { secrets: secretsOf(secrets[0]), schemes: ['v1'], nowMs: 0 });
  const before = first(fresh);
  fresh(SIGNABLE, { secrets: secretsOf(...secrets), schemes: ['v1'], nowMs: 0 });
  assert.equal(first(fresh), before);
});

function nodes(key: Buffer, head: string, body: Uint8Array): string {
  return createHmac('sha256', key).update(head).update(body).digest('base64');
}

test("HMACs equal those of Node's createHmac", () => {
  const bytes = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength });
  fc.assert(
    fc.property(bytes(150), fc.string({ unit: 'grapheme' }), bytes(300), (key, head, body) => {
      const sign = hmacSha256(Buffer.from(key));
      assert.equal(sign(head, body), nodes(Buffer.from(key), head, body));
      assert.equal(sign(head, body), nodes(Buffer.from(key), head, body), 'twice with one key');
    }),
  );
});

test('HMACs of short and long messages agree', () => {
  const key = Buffer.alloc(32, 7);
  const sign = hmacSha256(key);
  for (const length of [0, 1, 55, 56, 64, 16_319, 16_320, 16_321, 16_384, 1_000_000]) {
    const body = Buffer.alloc(length, 'ä');
    assert.equal(sign('', body), nodes(key, '', body), `${length} bytes`);
    assert.equal(sign('emit1.1700000000.', body), nodes(key, 'emit1.1700000000.', body), `${length} bytes and a head`);
  }
});

test('HMACs with keys around one block agree', () => {
  const body = Buffer.from('{}');
  for (const length of [1, 32, 63, 64, 65, 128, 150, 1_000]) {
    const key = Buffer.alloc(length, 'ä');
    assert.equal(hmacSha256(key)('1.', body), nodes(key, '1.', body), `${length} bytes`);
  }
});

test('Two keys used in turn do not mix', () => {
  const [a, b] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const [signA, signB] = [hmacSha256(a), hmacSha256(b)];
  const body = Buffer.from('{}');
  const made = [signA('1.', body), signB('1.', body), signA('1.', body)];
  assert.deepEqual(made, [nodes(a, '1.', body), nodes(b, '1.', body), nodes(a, '1.', body)]);
});
