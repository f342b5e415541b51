// Makes the request of a call: its address, headers and body from what the caller gives.

import type { CallOptions, ErrandOptions, Route } from './options.ts';

export interface MadeRequest {
  readonly url: string;
  readonly init: RequestInit & { readonly method: string; readonly headers: Record<string, string> };
}

const HOLE = /\{(\w+)\}/g;
/** What an HTTP header may hold. The platform's own message for others would have the key in it. */
const KEY = /^[\x21-\x7e]+$/;
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);
const KEY_BYTES = 16;

/** Returns the address without a slash at its end, which a path is put behind. Throws `TypeError` when it is none. */
export function baseOf(url: string | undefined): string {
  // A browser completes it with the page's own server.
  if (url === undefined || url === '') return '';
  if (!/^https?:\/\/./.test(url)) throw new TypeError(`url: "${url}" is not like https://errand.example.com`);
  const { search, hash, username, password } = new URL(url);
  if (search || hash || username || password)
    throw new TypeError('url: a server has no query, fragment or credentials; the key is given as `key`');
  return url.replace(/\/+$/, '');
}

export function checkKey(key: string | undefined): void {
  if (key !== undefined && !KEY.test(key))
    throw new TypeError('key: it is empty, or has a blank or another character that no key has');
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
  const body = bodyOf(route, rest);
  const idempotencyKey = options.idempotencyKey ?? (route.takesIdempotencyKey ? randomKey() : undefined);
  return {
    url: `${baseOf(url)}${path}${search}`,
    init: {
      method: route.method,
      headers: {
        ...(key === undefined || route.isPublic ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        ...always,
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
    },
  };
}

/** Returns whether doing it twice is the same as doing it once. */
export function isRepeatable(route: Route, { headers }: MadeRequest['init']): boolean {
  return (
    REPEATABLE.has(route.method) || (route.takesIdempotencyKey === true && headers['idempotency-key'] !== undefined)
  );
}

function take(rest: Map<string, unknown>, name: string): unknown {
  const value = rest.get(name);
  rest.delete(name);
  return value;
}

/** Returns a parameter as a part of the path. An empty part, or one of dots, would be another address. */
function partOf({ method, path }: Route, name: string, value: unknown): string {
  const part = value === undefined || value === null ? '' : String(value);
  if (part === '' || part === '.' || part === '..')
    throw new TypeError(`${method} ${path}: ${name} is ${part === '' ? 'missing' : `"${part}"`}`);
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

/** Throws for members that the route does not have. A misspelt filter would list everything. */
function refuseRest({ method, path }: Route, rest: ReadonlyMap<string, unknown>): void {
  if (rest.size > 0) throw new TypeError(`${method} ${path} takes no ${[...rest.keys()].join(', ')}`);
}

function randomKey(): string {
  // `randomUUID` is missing on pages that came over plain HTTP.
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
