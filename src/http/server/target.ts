// The request's target in its one form, made before anything looks at it: both ways through the server, the router and what
// refuses see the same text.

import type { IncomingMessage } from 'node:http';

/** Characters that mean the same escaped or not (RFC 3986, 2.3), and the `$` of `$errors`, which callers escape or do not. */
const SAME_UNESCAPED = /^[A-Za-z0-9\-._~$]$/;
const ESCAPE = /%([0-9A-Fa-f]{2})/g;

/**
 * Gives the request its target as path and query, with nothing escaped in the path that needs no escape. Of an address of
 * the ingress, that is the first part alone: the rest belongs to the event, which gets it as it came.
 */
export function normalizeTarget(req: IncomingMessage): string {
  const url = originForm(req.url as string);
  req.url = url.includes('%') ? unescaped(url) : url;
  return req.url;
}

/** A client may also name the whole address, as it would to a proxy, and a server has to take that. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const rest = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
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

/** The path alone. Like the router, it takes a `#` for an end, too. */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}
