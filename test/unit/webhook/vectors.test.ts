// That what we sign is what the receivers' package takes. The published vectors are in verify.test.ts and sign.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { verifyWebhook } from '../../../src/verifier/verify.ts';
import { createSigner, newSecret, newSigningKey } from '../../../src/webhook/sign.ts';
import { EMPTY_SECRETS } from './vectors.ts';

const SEED = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('Published empty secrets throw on both sides', () => {
  const signable = { id: 'a', timestampS: 1, body: Buffer.from('{}') };
  for (const secret of EMPTY_SECRETS) {
    assert.throws(() => verifyWebhook({ secrets: secret as string, headers: {}, body: '', nowMs: 0 }), /secret/);
    const secrets = [{ secret: secret ?? '', publicKey: null, untilMs: null }];
    assert.throws(() => createSigner()(signable, { secrets, schemes: ['v1'], nowMs: 0 }), /secret/);
  }
});

test('Receivers verify each scheme with its key', () => {
  const sign = createSigner();
  fc.assert(
    fc.property(SEED, SEED, fc.uint8Array(), (seed, other, body) => {
      const pair = newSigningKey(seed);
      const secret = newSecret(other);
      const secrets = [secret, pair.secret].map((each) => ({ secret: each, publicKey: null, untilMs: null }));
      const signature = sign({ id: 'emit1', timestampS: 1000, body }, { secrets, schemes: ['v1', 'v1a'], nowMs: 0 });
      const headers = { 'webhook-id': 'emit1', 'webhook-timestamp': '1000', 'webhook-signature': signature };
      for (const key of [secret, pair.publicKey]) {
        assert.ok(verifyWebhook({ secrets: key, headers, body, nowMs: 1000_000 }).ok);
        const changed = Buffer.concat([body, Buffer.of(0)]);
        assert.equal(verifyWebhook({ secrets: key, headers, body: changed, nowMs: 1000_000 }).ok, false);
      }
    }),
    { numRuns: 25 },
  );
});
