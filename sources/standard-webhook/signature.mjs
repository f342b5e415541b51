// Standard Webhooks: `webhook-signature` lists `v1,<base64>`, HMAC-SHA256 with a shared secret, and `v1a,<base64>`, ed25519.
// Signed are the bytes `id.timestamp.body`.

import { createPublicKey, verify } from 'node:crypto';
import { hmac, isEqual, isRecent, TOLERANCE_S } from '../common/signed.mjs';

const SHARED = 'whsec_';
const PUBLIC = 'whpk_';
const PRIVATE = 'whsk_';
const PUBLIC_BYTES = 32;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** What requests are checked with. Throws for a secret that cannot be one, and does not repeat it. */
export function keysOf(secrets) {
  if (secrets.length === 0) throw new Error('there is no secret');
  return secrets.map(keyOf);
}

function keyOf(secret) {
  if (secret.startsWith(PRIVATE)) throw new Error(`a ${PRIVATE} key is the sender's; this needs the ${PUBLIC} key`);
  const prefix = [SHARED, PUBLIC].find((one) => secret.startsWith(one)) ?? '';
  const text = secret.slice(prefix.length);
  if (!BASE64.test(text)) throw new Error(`a secret is ${SHARED} or ${PUBLIC} and base64`);
  const bytes = Buffer.from(text, 'base64');
  if (prefix !== PUBLIC) {
    return (head, body) => {
      const expected = Buffer.from(hmac(bytes, head, body).toString('base64'));
      return (scheme, text) => scheme === 'v1' && isEqual(Buffer.from(text), expected);
    };
  }
  if (bytes.length !== PUBLIC_BYTES) throw new Error(`a ${PUBLIC} key holds ${PUBLIC_BYTES} bytes`);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') };
  const key = createPublicKey({ format: 'jwk', key: jwk });
  return (head, body) => {
    const signed = Buffer.concat([Buffer.from(head), body]);
    return (scheme, text) => scheme === 'v1a' && verify(null, signed, key, Buffer.from(text, 'base64'));
  };
}

/** Null when it is genuine, else `{status, reason}`. */
export function faultOf({ bytes, headers, keys, arrivedMs }) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!id || !timestamp || !signatures) return { status: 400, reason: 'a webhook header is missing' };
  // With dots in it, the same bytes would also be those of another id, time and body.
  if (id.includes('.')) return { status: 400, reason: 'the webhook-id contains a dot' };
  if (!/^[1-9]\d{0,14}$/.test(timestamp)) return { status: 400, reason: 'the webhook-timestamp is no time' };
  // What is expected is computed once, however many entries there are.
  const checks = keys.map((key) => key(`${id}.${timestamp}.`, bytes));
  const isGenuine = signatures.split(' ').some((entry) => {
    const comma = entry.indexOf(',');
    return comma > 0 && checks.some((check) => check(entry.slice(0, comma), entry.slice(comma + 1)));
  });
  if (!isGenuine) return { status: 401, reason: 'no signature matches' };
  const reason = `it was signed more than ${TOLERANCE_S} seconds before or after it arrived`;
  return isRecent(timestamp, arrivedMs) ? null : { status: 401, reason };
}
