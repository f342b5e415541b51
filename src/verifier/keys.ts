// The keys that a receiver checks signatures with: shared secrets (`v1`, HMAC-SHA256), public keys (`v1a`, ed25519).

import { Buffer } from 'node:buffer';
import { createHmac, createPublicKey, timingSafeEqual, verify as verifyEd25519 } from 'node:crypto';

export interface Signed {
  readonly id: string;
  readonly timestampS: number;
  readonly body: Uint8Array;
}

/** Returns whether one entry of `webhook-signature` is this key's. */
export type Check = (version: string, signature: string) => boolean;

/** Makes the check of one request: the expected signature is computed once, however many entries there are. */
export type Key = (signed: Signed) => Check;

const SECRET_PREFIX = 'whsec_';
const PUBLIC_PREFIX = 'whpk_';
const PRIVATE_PREFIX = 'whsk_';
const PUBLIC_KEY_BYTES = 32;

/** Throws for a secret that is empty or malformed, and never repeats it. */
export function keysOf(secrets: string | readonly string[]): Key[] {
  const given = typeof secrets === 'string' ? [secrets] : secrets;
  if (!given?.length) throw new Error('the signing secret is empty');
  return given.map((secret) => {
    // As base64 it would be a key that signed nothing, and every request would be refused.
    if (secret.startsWith(PRIVATE_PREFIX)) {
      throw new Error(`a ${PRIVATE_PREFIX} key is the sender's secret: receivers check with the ${PUBLIC_PREFIX} key`);
    }
    return secret.startsWith(PUBLIC_PREFIX) ? ed25519Key(secret) : hmacKey(secret);
  });
}

function hmacKey(secret: string): Key {
  const bare = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const key = Buffer.from(bare, 'base64');
  if (key.length === 0) throw new Error('the signing secret is empty');
  return ({ id, timestampS, body }) => {
    let expected: Buffer | undefined;
    return (version, signature) => {
      if (version !== 'v1') return false;
      expected ??= Buffer.from(createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64'));
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    };
  };
}

function ed25519Key(secret: string): Key {
  const raw = Buffer.from(secret.slice(PUBLIC_PREFIX.length), 'base64');
  if (raw.length !== PUBLIC_KEY_BYTES) throw new Error(`a ${PUBLIC_PREFIX} key holds ${PUBLIC_KEY_BYTES} bytes`);
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') } });
  return ({ id, timestampS, body }) => {
    let signed: Buffer | undefined;
    return (version, signature) => {
      if (version !== 'v1a') return false;
      signed ??= Buffer.concat([Buffer.from(`${id}.${timestampS}.`), body]);
      return verifyEd25519(null, signed, key, Buffer.from(signature, 'base64'));
    };
  };
}
