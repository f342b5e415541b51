// The receiver's half of sign.ts: is this request from who holds the secret, and recent? Also verifies `v1a` (ed25519).

import { createPublicKey, timingSafeEqual, verify as verifyEd25519 } from 'node:crypto';
import { hmac, keyOf, type Signable } from './sign.ts';

export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** `whsec_…` (or its bare base64) for `v1`, `whpk_…` for `v1a`; several while secrets are being rotated. */
  readonly secrets: string | readonly string[];
  readonly headers: WebhookHeaders;
  /** As it came over the wire, before any parsing. A string stands for its UTF-8 bytes. */
  readonly body: Uint8Array | string;
  readonly nowMs: number;
  /** How far the timestamp may lie from now, both ways, inclusive; 300 by default. */
  readonly toleranceS?: number;
}

export type Verified =
  | { readonly ok: true; readonly id: string; readonly timestampS: number }
  | { readonly ok: false; readonly reason: string };

type Check = (version: string, signature: string) => boolean;

const PUBLIC_PREFIX = 'whpk_';
const PUBLIC_KEY_BYTES = 32;
const TOLERANCE_S = 300;

/** Whether a request is genuine: a value. Throws only for a secret that is empty or malformed, which is the caller's mistake. */
export function verifyWebhook({ secrets, headers, body, nowMs, toleranceS = TOLERANCE_S }: VerifyOptions): Verified {
  const keys = typeof secrets === 'string' ? [secrets] : secrets;
  if (!keys?.length) throw new Error('the signing secret is empty');

  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const signable = { id, timestampS: Number(timestamp), body: bytes };
  // Built before the headers are looked at, so that a bad secret shows at the first request and not at the first good one.
  const checks = keys.map((key) =>
    key.startsWith(PUBLIC_PREFIX) ? ed25519Check(key, signable) : hmacCheck(key, signable),
  );

  if (id === '' || timestamp === '' || signatures === '') return no('a webhook header is missing');
  // Without these two rules the dots could be moved: the same bytes would verify as another id, timestamp and body.
  if (id.includes('.')) return no('the webhook-id contains a dot');
  if (!/^[1-9]\d{0,14}$/.test(timestamp)) return no('the webhook-timestamp is not a whole number of seconds');
  if (Math.abs(Math.floor(nowMs / 1000) - signable.timestampS) > toleranceS) {
    return no(`the webhook-timestamp is more than ${toleranceS} seconds away`);
  }
  const genuine = signatures.split(' ').some((entry) => {
    const comma = entry.indexOf(',');
    return comma > 0 && checks.some((check) => check(entry.slice(0, comma), entry.slice(comma + 1)));
  });
  return genuine ? { ok: true, id, timestampS: signable.timestampS } : no('no signature matches');
}

function hmacCheck(secret: string, signable: Signable): Check {
  const key = keyOf(secret);
  let expected: Buffer | undefined;
  return (version, signature) => {
    if (version !== 'v1') return false;
    expected ??= Buffer.from(hmac(key, signable));
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
}

function ed25519Check(secret: string, { id, timestampS, body }: Signable): Check {
  const raw = Buffer.from(secret.slice(PUBLIC_PREFIX.length), 'base64');
  if (raw.length !== PUBLIC_KEY_BYTES) throw new Error(`a ${PUBLIC_PREFIX} key holds ${PUBLIC_KEY_BYTES} bytes`);
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') } });
  return (version, signature) => {
    if (version !== 'v1a') return false;
    return verifyEd25519(
      null,
      Buffer.concat([Buffer.from(`${id}.${timestampS}.`), body]),
      key,
      Buffer.from(signature, 'base64'),
    );
  };
}

/** The header's value in any case of its name; empty when it is absent or given twice. */
function headerOf(headers: WebhookHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? '';
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
  return values.length === 1 ? (values[0] as string) : '';
}

function no(reason: string): Verified {
  return { ok: false, reason };
}
