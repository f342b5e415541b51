// Which custom request headers a webhook may have. Checked when they are set, and again before each request: a bad header
// could forge one of ours, or split the request in two.

import { LIMITS } from '../limits.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Visible characters of ASCII and Latin-1, each a single byte on the wire; spaces only between them. */
const VALUE = /^(?:[\x21-\x7e\xa1-\xff](?:[\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa1-\xff])?)?$/;
const UNSENDABLE = /[^\x20-\x7e\xa0-\xff]/u;

/** Headers that Errand sets, and headers of the connection or of the body's encoding. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept-encoding',
  'alt-svc',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
]);

const RESERVED_PREFIXES: readonly string[] = ['webhook-', 'errand-', 'proxy-'];

/**
 * Returns what is wrong with a header and what is allowed, to follow its name; null when it may be sent. Never quotes the
 * value, which may be a credential.
 */
export function faultOfHeader(name: string, value: unknown): string | null {
  if (name.length > LIMITS.headerNameChars) {
    return `has a name of ${name.length} characters, but at most ${LIMITS.headerNameChars} are taken`;
  }
  if (!TOKEN.test(name)) return "is no header name: letters, digits and !#$%&'*+-.^_`|~ are taken";
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return 'cannot be set: it is one of Errand’s own or of the connection’s; choose another name';
  }
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > LIMITS.headerValueChars) {
    return `has a value of ${value.length} characters, but at most ${LIMITS.headerValueChars} are taken`;
  }
  const bad = UNSENDABLE.exec(value);
  if (bad) {
    const spelled = (bad[0].codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
    return `has U+${spelled} in its value; visible characters of ASCII and Latin-1, and spaces between them, are taken`;
  }
  return VALUE.test(value) ? null : 'has white space around its value; leave it out';
}

/** Returns the first wrong header (null: there are too many) and the reason; null when all may be sent. */
export function faultOfHeaders(
  headers: Readonly<Record<string, unknown>>,
): { readonly name: string | null; readonly fault: string } | null {
  const entries = Object.entries(headers);
  if (entries.length > LIMITS.headersPerWebhook) {
    return { name: null, fault: `are ${entries.length}, but at most ${LIMITS.headersPerWebhook} are taken` };
  }
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    const fault = faultOfHeader(name, value);
    if (fault !== null) return { name, fault };
    if (seen.has(name.toLowerCase())) return { name, fault: 'is given twice: case makes no other header' };
    seen.add(name.toLowerCase());
  }
  return null;
}
