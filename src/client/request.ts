// Makes the request of a call: its address, headers and body from what the caller gives.

import type { CallOptions, ErrandOptions, Route } from './options.ts';

export interface MadeRequest {
  readonly url: string;
  readonly init: RequestInit & { readonly method: string; readonly headers: Record<string, string> };
}

const HOLE = /\{(\w+)\}/g;
/** What an HTTP header may hold. The platform's own message for others would have the key in it. */
const KEY = /^[\x21-\x7e]+$/;
const HEADER_NAME = /^[!#$%&'*+.^`|~\w-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** With these a change that was made, but not answered, would be refused when it is made again. */
const CONDITIONS = ['if-match', 'if-none-match'];
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);
const KEY_BYTES = 16;

/** Returns the address without a slash at its end, which a path is put behind. Throws `TypeError` when it is none. */
export function baseOf(url: string | undefined): string {
  // A browser completes it with the page's own server.
  if (url === undefined || url === '') return '';
  const parsed = parsedUrl(url);
  if (!parsed) throw new TypeError(`url: "${url}" is not like https://errand.example.com`);
  const { origin, pathname, search, hash, username, password } = parsed;
  if (search || hash || username || password)
    throw new TypeError('url: a server has no query, fragment or credentials; the key is given as `key`');
  const path = pathname.replace(/\/+$/, '');
  if (/\/v1$/.test(path)) throw new TypeError(`url: "${url}" ends with /v1, which each call puts behind it itself`);
  return origin + path;
}

function parsedUrl(url: string): URL | null {
  try {
    return /^https?:\/\/./i.test(url) ? new URL(url) : null;
  } catch {
    return null;
  }
}

export function checkKey(key: string | undefined): void {
  if (key !== undefined && !KEY.test(key))
    throw new TypeError('key: it is empty, or has a blank or another character that no key has');
}

/** Throws `TypeError` for numbers with which a call would never end, or end before it began. */
export function checkNumbers(
  of: Pick<ErrandOptions, 'timeoutMs' | 'retries'> & { readonly idleTimeoutMs?: number | undefined },
): void {
  for (const name of ['timeoutMs', 'retries', 'idleTimeoutMs'] as const) {
    const value = of[name] ?? 1;
    if (!(value >= (name === 'retries' ? 0 : 1))) throw new TypeError(`${name}: ${value} is too small, or no number`);
  }
}

/** Returns the request of a call, with the idempotency key that all of its attempts have. */
export function requestOf(
  { url, key, headers: always }: ErrandOptions,
  route: Route,
  { input, options }: { readonly input: object; readonly options: CallOptions },
): MadeRequest {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = route.path.replace(HOLE, (_, name: string) => partOf(route, name, take(rest, name)));
  const query = new URLSearchParams();
  for (const name of route.query ?? []) {
    const value = take(rest, name);
    if (value !== undefined) query.append(name, String(value));
  }
  const search = query.size > 0 ? `?${query}` : '';
  const body = options.bodyText === undefined ? bodyOf(route, rest) : textFor(route, options.bodyText);
  const headers = headersOf([
    {
      authorization: key === undefined || route.isPublic ? undefined : `Bearer ${key}`,
      'content-type': body === undefined ? undefined : 'application/json',
      'if-match': options.ifMatch,
      'if-none-match': options.ifNoneMatch,
    },
    always,
    options.headers,
    { 'idempotency-key': options.idempotencyKey },
  ]);
  if (route.takesIdempotencyKey) headers['idempotency-key'] ??= randomKey();
  return {
    url: `${baseOf(url)}${path}${search}`,
    init: {
      method: route.method,
      headers,
      ...(body === undefined ? {} : { body }),
    },
  };
}

/** Returns whether doing it twice is the same as doing it once. */
export function isRepeatable(route: Route, { headers }: MadeRequest['init']): boolean {
  if (CONDITIONS.some((name) => headers[name] !== undefined)) return route.method === 'GET';
  return (
    REPEATABLE.has(route.method) || (route.takesIdempotencyKey === true && headers['idempotency-key'] !== undefined)
  );
}

/**
 * Returns the headers by their names in lower case: two spellings of one would both be sent. Throws `TypeError` for what no
 * header may hold; the platform's message has the value, and would come as if the server could not be reached.
 */
function headersOf(
  parts: readonly (Readonly<Record<string, string | undefined>> | undefined)[],
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of parts.flatMap((part) => Object.entries(part ?? {}))) {
    if (value === undefined) continue;
    if (!HEADER_NAME.test(name)) throw new TypeError(`headers: ${JSON.stringify(name)} is no name of a header`);
    if (!HEADER_VALUE.test(value)) throw new TypeError(`headers: ${name} has a character that no header has`);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function take(rest: Map<string, unknown>, name: string): unknown {
  const value = rest.get(name);
  rest.delete(name);
  return value;
}

/** Thrown for a parameter of the path with which the request would be another one. Nothing was sent. */
export class UnusableParameter extends TypeError {
  override readonly name = 'UnusableParameter';
}

/** Returns a parameter as a part of the path. An empty part, or one of dots, would be another address. */
function partOf({ method, path }: Route, name: string, value: unknown): string {
  const part = value === undefined || value === null ? '' : String(value);
  if (part === '' || part === '.' || part === '..')
    throw new UnusableParameter(
      `${method} ${path}: ${name} is ${part === '' ? 'missing' : `"${part}", which no address can have`}`,
    );
  return encodeURIComponent(part);
}

function bodyOf(route: Route, rest: Map<string, unknown>): string | undefined {
  if (route.body === 'whole') {
    const body = take(rest, 'body');
    refuseRest(route, rest);
    return body === undefined ? undefined : JSON.stringify(body);
  }
  if (route.body === 'members') return rest.size > 0 ? JSON.stringify(Object.fromEntries(rest)) : undefined;
  refuseRest(route, rest);
  return undefined;
}

/** Returns a body that was given as text. Throws `TypeError` where no body is taken, or the text is no JSON. */
function textFor({ method, path, body }: Route, text: string): string {
  if (body === undefined) throw new TypeError(`${method} ${path} takes no body`);
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new TypeError(`bodyText: it is no JSON: ${(error as Error).message}`);
  }
}

/** Throws for members that the route does not have. A misspelt filter would list everything. */
function refuseRest({ method, path }: Route, rest: ReadonlyMap<string, unknown>): void {
  if (rest.size > 0) throw new TypeError(`${method} ${path} takes no ${[...rest.keys()].join(', ')}`);
}

function randomKey(): string {
  // `randomUUID` is missing on pages that came over plain HTTP.
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
