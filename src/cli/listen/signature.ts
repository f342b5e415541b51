// Why the signature of a webhook's request is not valid, in words: which bytes are signed, with which secret, whether the
// request is stale, and whether its body was parsed and serialised again before it was checked.

import { createHash, createHmac } from 'node:crypto';
import { verifyWebhook, type WebhookHeaders } from '../../verifier/verify.ts';

export type Verdict = 'genuine' | 'stale' | 'reserialised' | 'other_secret' | 'malformed';

export interface Explanation {
  readonly verdict: Verdict;
  /** What was found, and what to do. */
  readonly lines: readonly string[];
}

interface Received {
  readonly headers: WebhookHeaders;
  readonly body: Uint8Array;
  readonly secrets: readonly string[];
  readonly nowMs: number;
}

const TOLERANCE_S = 300;
const ANY_AGE_S = Number.MAX_SAFE_INTEGER;
const SHOWN = 24;

export function explainSignature({ headers, body, secrets, nowMs }: Received): Explanation {
  const heads = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, headerOf(headers, name)]);
  const missing = heads.filter(([, value]) => value === '').map(([name]) => name);
  if (missing.length > 0)
    return { verdict: 'malformed', lines: [`the header ${missing.join(' and ')} is missing, or is there twice`] };
  const [id = '', timestamp = ''] = heads.map(([, value = '']) => value);
  const signed = [`signed: ${id}.${timestamp}.<body>, the body being ${describe(body)}`];
  const by = (bytes: Uint8Array): number =>
    secrets.findIndex(
      (secret) => verifyWebhook({ secrets: secret, headers, body: bytes, nowMs, toleranceS: ANY_AGE_S }).ok,
    );
  const found = by(body);
  if (found >= 0) return ageOf({ id, timestamp, signed, secret: shownSecret(secrets[found] ?? ''), nowMs });
  const other = variantsOf(body).find((variant) => by(variant.bytes) >= 0);
  if (other) {
    return {
      verdict: 'reserialised',
      lines: [
        ...signed,
        `the signature is that of other bytes, ${describe(other.bytes)}: the same JSON ${other.how}`,
        'the body was changed before it was checked: check the bytes as they came, before any parser, and parse them afterwards',
      ],
    };
  }
  const failed = verifyWebhook({ secrets, headers, body, nowMs, toleranceS: ANY_AGE_S });
  return {
    verdict: !failed.ok && failed.status === 400 ? 'malformed' : 'other_secret',
    lines: [
      ...signed,
      ...(failed.ok || failed.status !== 400 ? [] : [failed.reason]),
      `no secret of these made the signature: ${secrets.map(shownSecret).join(', ')}`,
      'either it is of another webhook or was rotated ("errand webhooks rotate-secret" makes a new one), or the body is not the one that was sent',
    ],
  };
}

interface Matched {
  readonly id: string;
  readonly timestamp: string;
  readonly signed: readonly string[];
  readonly secret: string;
  readonly nowMs: number;
}

function ageOf({ timestamp, signed, secret, nowMs }: Matched): Explanation {
  const ageS = Math.floor(nowMs / 1000) - Number(timestamp);
  const lines = [...signed, `with the secret ${secret}`];
  if (Math.abs(ageS) <= TOLERANCE_S) return { verdict: 'genuine', lines: [...lines, 'the signature is valid'] };
  const when = ageS > 0 ? `${ageS} s ago` : `${-ageS} s from now`;
  return {
    verdict: 'stale',
    lines: [
      ...lines,
      `the signature is valid, and the timestamp is ${when}: receivers take ${TOLERANCE_S} s at most`,
      'the request waited too long before it was checked, was sent again by something between, or one of the clocks is wrong: use NTP',
    ],
  };
}

interface Variant {
  readonly bytes: Uint8Array;
  readonly how: string;
}

/** Returns what the body may have been before something parsed and serialised it, or a shell or editor saved it. */
function variantsOf(body: Uint8Array): Variant[] {
  const text = Buffer.from(body).toString();
  const variants = [
    { text: text.trimEnd(), how: 'without the line break at its end' },
    { text: `${text}\n`, how: 'with a line break at its end' },
  ];
  try {
    const value: unknown = JSON.parse(text);
    const compact = JSON.stringify(value);
    variants.push(
      { text: compact, how: 'without white space' },
      { text: `${compact}\n`, how: 'without white space, and with a line break at its end' },
      { text: JSON.stringify(value, null, 2), how: 'indented by two' },
      { text: spaced(compact), how: 'with a space behind commas and colons' },
    );
  } catch {
    // No JSON: it was not serialised again.
  }
  return variants.map(({ text: other, how }) => ({ bytes: Buffer.from(other), how }));
}

/** Returns JSON as Python's json.dumps writes it. */
function spaced(compact: string): string {
  return compact.replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (token) => (token.length === 1 ? `${token} ` : token));
}

/** Returns what a receiver that parses and serialises the body again would see of it; null: the same bytes. */
export function reserialised(
  body: Uint8Array,
): { readonly at: number; readonly was: string; readonly is: string } | null {
  const text = Buffer.from(body).toString();
  let again: string;
  try {
    again = JSON.stringify(JSON.parse(text));
  } catch {
    return null;
  }
  if (again === text) return null;
  const differs = [...text].findIndex((char, i) => char !== [...again][i]);
  const at = differs < 0 ? again.length : differs;
  return { at, was: text.slice(at, at + SHOWN), is: again.slice(at, at + SHOWN) };
}

/** Returns the value of `webhook-signature`, scheme `v1`. */
export function signV1(
  secret: string,
  { id, timestampS, body }: { id: string; timestampS: number; body: Uint8Array },
): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.`).update(body).digest('base64')}`;
}

export function describe(body: Uint8Array): string {
  return `${body.byteLength} bytes, SHA-256 ${createHash('sha256').update(body).digest('hex').slice(0, 16)}…`;
}

/** Returns enough of a secret to tell it from others. */
export function shownSecret(secret: string): string {
  const [prefix = ''] = /^(?:whsec_|whpk_)?/.exec(secret) ?? [];
  return `${secret.slice(0, prefix.length + 4)}…`;
}

function headerOf(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? '';
  const all = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
  return all.length === 1 ? String(all[0]) : '';
}
