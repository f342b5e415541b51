// Signs requests with OAuth 1 (RFC 5849). Part of what stands in for `@pipedream/platform`. The account says who signs: an
// address that answers with the Authorization header, or the keys of the account's own application.

import { createHmac, randomBytes } from 'node:crypto';

/** The third argument of `axios`, as components give it. */
export interface SignConfig {
  readonly token?: { readonly key?: unknown; readonly secret?: unknown };
  /** `https://…`: what signs; `oauth1://CONSUMER_KEY:CONSUMER_SECRET`: the keys to sign with here. */
  readonly oauthSignerUri?: unknown;
}

export interface SignedRequest {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  /** Form fields, which count only with a body of that type. */
  readonly data?: object | undefined;
}

/** What is missing when a request cannot be signed. */
const NO_SIGNER =
  'axios: a request with OAuth 1 needs the field oauth_signer_uri in its account: the address of a service that signs, or oauth1://CONSUMER_KEY:CONSUMER_SECRET to sign here';

export interface Keys {
  readonly consumer: { readonly key: string; readonly secret: string };
  readonly token: { readonly key: string; readonly secret: string };
}

/** Returns the keys that the configuration has; null: the address signs. Throws `TypeError` that says what is missing. */
export function keysOf({ oauthSignerUri: uri, token }: SignConfig): Keys | null {
  if (typeof uri !== 'string') throw new TypeError(NO_SIGNER);
  if (/^https?:\/\//.test(uri) && URL.canParse(uri)) return null;
  const consumer = keysIn(/^oauth1:\/\/([^:@/]+):([^@/]+)\/?$/.exec(uri));
  if (consumer === null) throw new TypeError(NO_SIGNER);
  return { consumer, token: { key: textOf(token?.key), secret: textOf(token?.secret) } };
}

function keysIn(found: RegExpExecArray | null): { key: string; secret: string } | null {
  if (found === null) return null;
  const [, key = '', secret = ''] = found;
  return { key: decodeURIComponent(key), secret: decodeURIComponent(secret) };
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

/** Returns the Authorization header. `nonce` and `seconds` are given by tests alone. */
export function authorizationOf(
  request: SignedRequest,
  { consumer, token }: Keys,
  { nonce = randomBytes(16).toString('hex'), seconds = Math.floor(Date.now() / 1000) } = {},
): string {
  const oauth: Record<string, string> = {
    oauth_consumer_key: consumer.key,
    oauth_nonce: nonce,
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(seconds),
    ...(token.key === '' ? {} : { oauth_token: token.key }),
    oauth_version: '1.0',
  };
  const url = new URL(request.url);
  const form = Object.entries(request.data ?? {})
    .flatMap(([name, value]) => [value].flat().map((one): [string, unknown] => [name, one]))
    .filter(([, value]) => value !== undefined && value !== null);
  const pairs = [...url.searchParams, ...form.map(([name, value]) => [name, String(value)]), ...Object.entries(oauth)];
  const sorted = pairs.map(([name = '', value = '']) => `${percent(name)}=${percent(value)}`).sort();
  const base = [request.method.toUpperCase(), `${url.origin}${url.pathname}`, sorted.join('&')].map(percent).join('&');
  const key = `${percent(consumer.secret)}&${percent(token.secret)}`;
  const signature = createHmac('sha1', key).update(base).digest('base64');
  const fields = Object.entries({ ...oauth, oauth_signature: signature });
  return `OAuth ${fields.map(([name, value]) => `${percent(name)}="${percent(value)}"`).join(', ')}`;
}

/** Encodes text as RFC 5849 has it: fewer characters stay as they are than with `encodeURIComponent`. */
function percent(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
