// Standard Webhooks signatures (github.com/standard-webhooks/standard-webhooks): `v1`, HMAC-SHA256 with a shared secret, and
// `v1a`, ed25519. Signs the bytes `id.timestamp.body`, with the body as sent, since a re-serialised body would not verify.
// No message here quotes a key.

import { createPrivateKey, createPublicKey, type KeyObject, sign as signEd25519 } from 'node:crypto';
import { SIGNATURE_SCHEMES, type SignatureScheme, type SigningSecret } from '../domain/resource.ts';
import { Unsendable } from './failure.ts';
import { hmacSha256 } from './hmac.ts';

const SECRET_PREFIX = 'whsec_';
const SIGNING_PREFIX = 'whsk_';
const PUBLIC_PREFIX = 'whpk_';
const SECRET_BYTES = 32;
const SEED_BYTES = 32;
// The bytes of PKCS #8 before the seed of an ed25519 key (RFC 8410): Node accepts a bare seed in no other form.
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
// The number of webhooks in use at a time, with room for rotations.
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
  /** Secrets that have ended by then do not sign. */
  readonly nowMs: number;
}

/** Returns the value of `webhook-signature`: one entry per current secret, `v1` before `v1a`, newest first within each. */
export type Signer = (signable: Signable, by: SignWith) => string;

/** Returns a new secret for `v1`, `whsec_…`, from 32 strong random bytes. */
export function newSecret(bytes: Uint8Array): string {
  if (bytes.length !== SECRET_BYTES) throw new Error(`a signing secret is made of ${SECRET_BYTES} bytes`);
  return SECRET_PREFIX + Buffer.from(bytes).toString('base64');
}

/** Returns a new key pair for `v1a`, from 32 strong random bytes. `secret` is seed and public key, one after the other. */
export function newSigningKey(seed: Uint8Array): { readonly secret: string; readonly publicKey: string } {
  if (seed.length !== SEED_BYTES) throw new Error(`a signing key is made of ${SEED_BYTES} bytes`);
  const publicBytes = publicBytesOf(privateKeyOf(seed));
  return {
    secret: SIGNING_PREFIX + Buffer.concat([seed, publicBytes]).toString('base64'),
    publicKey: PUBLIC_PREFIX + publicBytes.toString('base64'),
  };
}

/** Caches parsed keys: parsing an ed25519 key takes longer than signing with it. */
export function createSigner(): Signer {
  const keys = new Map<string, Sign>();

  function signWith(secret: string, scheme: SignatureScheme): Sign {
    const known = keys.get(secret);
    if (known) return known;
    const made = SIGNING[scheme](secret);
    if (keys.size >= KEPT_KEYS) keys.delete(keys.keys().next().value as string);
    keys.set(secret, made);
    return made;
  }

  return (signable, { secrets, schemes, nowMs }) => {
    const head = `${signable.id}.${signable.timestampS}.`;
    const signing = secrets.filter(({ untilMs }) => untilMs === null || untilMs > nowMs);
    const signatures = SIGNATURE_SCHEMES.filter((scheme) => schemes.includes(scheme)).flatMap((scheme) =>
      signing
        .filter(({ secret }) => schemeOf(secret) === scheme)
        .map(({ secret }) => `${scheme},${signWith(secret, scheme)(head, signable.body)}`),
    );
    if (signatures.length === 0) throw new Unsendable('there is no signing secret');
    return signatures.join(' ');
  };
}

/** Returns the HMAC key of a secret, with or without its prefix. Throws when it is empty: such a signature protects nothing. */
function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64');
  if (key.length === 0) throw new Unsendable('the signing secret is empty');
  return key;
}

/** Returns Base64 of the signature of a head and a body. */
type Sign = (head: string, body: Uint8Array) => string;

/** By scheme: parses a secret. */
const SIGNING: Record<SignatureScheme, (secret: string) => Sign> = {
  v1: (secret) => hmacSha256(keyOf(secret)),
  v1a: (secret) => {
    const key = signingKeyOf(secret);
    return (head, body) => signEd25519(null, Buffer.concat([Buffer.from(head), body]), key).toString('base64');
  },
};

/** Returns the scheme of a secret by its prefix. Older secrets have none at all. */
function schemeOf(secret: string): SignatureScheme {
  return secret.startsWith(SIGNING_PREFIX) ? 'v1a' : 'v1';
}

/** Refuses halves that do not belong together: signatures would not verify with the public key that is shown. */
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
