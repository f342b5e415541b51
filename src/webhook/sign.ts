// Standard Webhooks signatures (github.com/standard-webhooks/standard-webhooks), the symmetric scheme `v1`.
// Signed are the bytes `id.timestamp.body`: the body as it is sent, since anything re-serialised verifies nowhere.

import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export interface Signable {
  readonly id: string;
  /** Unix seconds, an integer. */
  readonly timestampS: number;
  readonly body: Uint8Array;
}

/** A new signing secret, `whsec_…`, made of 32 strong random bytes. */
export function newSecret(bytes: Uint8Array): string {
  if (bytes.length !== SECRET_BYTES) throw new Error(`a signing secret is made of ${SECRET_BYTES} bytes`);
  return PREFIX + Buffer.from(bytes).toString('base64');
}

/** The HMAC key of a secret, with or without its prefix. Throws when it is empty: a signature with an empty key protects nothing. */
export function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, 'base64');
  if (key.length === 0) throw new Error('the signing secret is empty');
  return key;
}

/** The value of `webhook-signature`: one `v1,…` per secret in the order given, newest first. */
export function sign({ secrets, ...signable }: Signable & { readonly secrets: readonly string[] }): string {
  if (secrets.length === 0) throw new Error('there is no signing secret');
  return secrets.map((secret) => `v1,${hmac(keyOf(secret), signable)}`).join(' ');
}

/** Base64 of the HMAC-SHA256 over `id.timestamp.body`. */
export function hmac(key: Buffer, { id, timestampS, body }: Signable): string {
  return createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64');
}
