// For receivers, `errand/webhooks`: was this request sent recently by the holder of the secret? This folder is used without
// the server, in other programs, so it imports only Node's own modules.

import { Buffer } from 'node:buffer';
import { type Key, keysOf } from './keys.ts';

export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** `whsec_…` (or its bare base64) for `v1`, `whpk_…` for `v1a`; several while secrets are being rotated. */
  readonly secrets: string | readonly string[];
  readonly headers: WebhookHeaders;
  /** As received, before any parsing. A string stands for its UTF-8 bytes. */
  readonly body: Uint8Array | string;
  /** The present by default. */
  readonly nowMs?: number;
  /** How far the timestamp may lie from now, both ways, inclusive; 300 by default. */
  readonly toleranceS?: number;
  /** Returns whether the same request came before (replay.ts); none by default: the timestamp alone limits replays. */
  readonly isReplay?: (genuine: Genuine) => boolean;
}

export interface Genuine {
  readonly ok: true;
  /** Names the event: the same in every attempt. Use it to recognise repeats. */
  readonly id: string;
  readonly timestampS: number;
}

export interface NotGenuine {
  readonly ok: false;
  /** The status to answer: 400 for a request that is not a webhook's, 401 for one whose signature is not valid. */
  readonly status: 400 | 401;
  /** May be shown to the sender. */
  readonly reason: string;
}

export type Verified = Genuine | NotGenuine;

export const TOLERANCE_S = 300;
export const CAME_BEFORE = 'the request came before';

/** Returns whether a request is genuine. Throws only for a secret that is empty or malformed, the receiver's own mistake. */
export function verifyWebhook({ secrets, headers, body, nowMs, toleranceS, isReplay }: VerifyOptions): Verified {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('the body must be the bytes as they came, not what was parsed from them');
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const verified = verifyWith({ keys: keysOf(secrets), headers, body: bytes, nowMs: nowMs ?? Date.now(), toleranceS });
  return verified.ok && isReplay?.(verified) ? no(401, CAME_BEFORE) : verified;
}

interface VerifyInput {
  readonly keys: readonly Key[];
  readonly headers: WebhookHeaders;
  readonly body: Uint8Array;
  readonly nowMs: number;
  readonly toleranceS: number | undefined;
}

export function verifyWith({ keys, headers, body, nowMs, toleranceS = TOLERANCE_S }: VerifyInput): Verified {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (id === '' || timestamp === '' || signatures === '') return no(400, 'a webhook header is missing');
  // Without these two rules the dots could be moved: the same bytes would verify as another id, timestamp and body.
  if (id.includes('.')) return no(400, 'the webhook-id contains a dot');
  if (!/^[1-9]\d{0,14}$/.test(timestamp)) return no(400, 'the webhook-timestamp is not a whole number of seconds');
  const timestampS = Number(timestamp);
  if (Math.abs(Math.floor(nowMs / 1000) - timestampS) > toleranceS) {
    return no(401, `the webhook-timestamp is more than ${toleranceS} seconds away`);
  }
  const checks = keys.map((key) => key({ id, timestampS, body }));
  const isGenuine = signatures.split(' ').some((entry) => {
    const comma = entry.indexOf(',');
    return comma > 0 && checks.some((check) => check(entry.slice(0, comma), entry.slice(comma + 1)));
  });
  return isGenuine ? { ok: true, id, timestampS } : no(401, 'no signature matches');
}

/** Returns the header's value, in any case of its name; empty when it is absent or given twice. */
function headerOf(headers: WebhookHeaders, name: string): string {
  // Not `instanceof Headers`: other libraries and realms have their own class.
  if (isHeaders(headers)) return headers.get(name) ?? '';
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
  return values.length === 1 ? (values[0] as string) : '';
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

function no(status: 400 | 401, reason: string): NotGenuine {
  return { ok: false, status, reason };
}
