// Standard Webhooks signatures (github.com/standard-webhooks/standard-webhooks): `v1`, HMAC-SHA256 with a shared secret, and
// `v1a`, ed25519. Signed are the bytes `id.timestamp.body`: the body as it is sent, since anything re-serialised verifies
// nowhere. No message here quotes a key.

import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  sign as signEd25519,
} from 'node:crypto';
import { SIGNATURE_SCHEMES, type SignatureScheme, type SigningSecret } from '../domain/resource.ts';
import { Unsendable } from './failure.ts';

const SECRET_PREFIX = 'whsec_';
const SIGNING_PREFIX = 'whsk_';
const PUBLIC_PREFIX = 'whpk_';
const SECRET_BYTES = 32;
const SEED_BYTES = 32;
// What PKCS #8 writes before the seed of an ed25519 key (RFC 8410): Node takes a bare seed in no other form.
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
// As many webhooks as are busy at a time, with room for those that rotate.
const KEPT_KEYS = 10_000;

export interface Signable {
  readonly id: string;
  /** Unix seconds, an integer. */
  readonly timestampS: number;
  readonly body: Uint8Array;
}

export interface SignWith {
  readonly secrets: readonly SigningSecret[];
  readonly schemes: readonly SignatureScheme[];
  /** Secrets that are over by then do not sign. */
  readonly nowMs: number;
}

/** The value of `webhook-signature`: one entry per secret that signs, `v1` before `v1a`, newest first within each. */
export type Signer = (signable: Signable, by: SignWith) => string;

/** A new secret for `v1`, `whsec_…`, made of 32 strong random bytes. */
export function newSecret(bytes: Uint8Array): string {
  if (bytes.length !== SECRET_BYTES) throw new Error(`a signing secret is made of ${SECRET_BYTES} bytes`);
  return SECRET_PREFIX + Buffer.from(bytes).toString('base64');
}

/** A new key pair for `v1a`, made of 32 strong random bytes. `secret` holds seed and public key, one after the other. */
export function newSigningKey(seed: Uint8Array): { readonly secret: string; readonly publicKey: string } {
  if (seed.length !== SEED_BYTES) throw new Error(`a signing key is made of ${SEED_BYTES} bytes`);
  const publicBytes = publicBytesOf(privateKeyOf(seed));
  return {
    secret: SIGNING_PREFIX + Buffer.concat([seed, publicBytes]).toString('base64'),
    publicKey: PUBLIC_PREFIX + publicBytes.toString('base64'),
  };
}

/** Keeps the keys that it has read: to read an ed25519 key takes longer than to sign with it. */
export function createSigner(): Signer {
  const keys = new Map<string, KeyObject>();

  function keyFor(secret: string, scheme: SignatureScheme): KeyObject {
    const known = keys.get(secret);
    if (known) return known;
    const key = scheme === 'v1' ? createSecretKey(keyOf(secret)) : signingKeyOf(secret);
    if (keys.size >= KEPT_KEYS) keys.delete(keys.keys().next().value as string);
    keys.set(secret, key);
    return key;
  }

  return (signable, { secrets, schemes, nowMs }) => {
    const signing = secrets.filter(({ untilMs }) => untilMs === null || untilMs > nowMs);
    const signatures = SIGNATURE_SCHEMES.filter((scheme) => schemes.includes(scheme)).flatMap((scheme) =>
      signing
        .filter(({ secret }) => schemeOf(secret) === scheme)
        .map(({ secret }) => `${scheme},${SIGN[scheme](keyFor(secret, scheme), signable)}`),
    );
    if (signatures.length === 0) throw new Unsendable('there is no signing secret');
    return signatures.join(' ');
  };
}

/** The HMAC key of a secret, with or without its prefix. Throws when it is empty: a signature with an empty key protects nothing. */
function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64');
  if (key.length === 0) throw new Unsendable('the signing secret is empty');
  return key;
}

/** Base64 of the HMAC-SHA256 over `id.timestamp.body`. */
function hmac(key: KeyObject, { id, timestampS, body }: Signable): string {
  return createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64');
}

const SIGN: Record<SignatureScheme, (key: KeyObject, signable: Signable) => string> = {
  v1: hmac,
  v1a: (key, { id, timestampS, body }) =>
    signEd25519(null, Buffer.concat([Buffer.from(`${id}.${timestampS}.`), body]), key).toString('base64'),
};

/** Older secrets have no prefix at all. */
function schemeOf(secret: string): SignatureScheme {
  return secret.startsWith(SIGNING_PREFIX) ? 'v1a' : 'v1';
}

/** Both halves have to belong together: what signs under another public key than the one shown verifies nowhere. */
function signingKeyOf(secret: string): KeyObject {
  const bytes = Buffer.from(secret.slice(SIGNING_PREFIX.length), 'base64');
  if (bytes.length !== 2 * SEED_BYTES) throw new Unsendable(`a ${SIGNING_PREFIX} key holds ${2 * SEED_BYTES} bytes`);
  const key = privateKeyOf(bytes.subarray(0, SEED_BYTES));
  if (!publicBytesOf(key).equals(bytes.subarray(SEED_BYTES))) {
    throw new Unsendable(`the halves of the ${SIGNING_PREFIX} key do not belong together`);
  }
  return key;
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

function publicBytesOf(key: KeyObject): Buffer {
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');
}
