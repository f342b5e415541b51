// Normalizes the request's target before anything reads it: the ingress, the router and every check of access see the same
// text.

import type { IncomingMessage } from 'node:http';

/** Characters that mean the same escaped or not (RFC 3986, 2.3), and the `$` of `$errors`. */
const SAME_UNESCAPED = /^[A-Za-z0-9\-._~$]$/;
const ESCAPE = /%([0-9A-Fa-f]{2})/g;

/**
 * Sets the target to path and query, with no unnecessary escapes in the path. In an ingress address this applies to the
 * first segment only: the rest belongs to the event, which gets it as it came.
 */
export function normalizeTarget(req: IncomingMessage): string {
  const url = originForm(req.url as string);
  req.url = url.includes('%') ? unescaped(url) : url;
  return req.url;
}

/** Returns the path and query of an address. Clients may send an absolute address, as to a proxy; servers must accept it. */
export function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const rest = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Returns the host in an absolute address, with its port if it has one; null when `url` is none. */
export function authorityOf(url: string): string | null {
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? null;
}

function unescaped(url: string): string {
  const path = pathOf(url);
  const end = path.indexOf('/', 1);
  const first = withoutEscapes(end < 0 ? path : path.slice(0, end));
  const rest = end < 0 ? '' : path.slice(end);
  const isIngress = first === '/e' || first === '/r';
  return first + (isIngress ? rest : withoutEscapes(rest)) + url.slice(path.length);
}

function withoutEscapes(path: string): string {
  return path.replace(ESCAPE, (escaped, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return SAME_UNESCAPED.test(character) ? character : escaped;
  });
}

/** Returns the path alone. Like the router, it also ends at a `#`. */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}
