// Which endpoint a request is for: by its path, `/e/{key}…`, or by its host, `{label}.hooks.example.com`, where every path
// is the event's and nothing of the API is.

import type { IncomingMessage } from 'node:http';
import { type EndpointHosts, keyOfLabel } from '../../domain/endpoint.ts';
import { authorityOf, originForm } from '../server/target.ts';

export interface Place {
  /** Null: there can be no endpoint here. */
  readonly key: string | null;
  /** Where the event's path starts in the request's URL. */
  readonly pathStart: number;
  /** What the caller has put before the request's URL. */
  readonly baseUrl: string;
}

/** Where the key starts in `/e/{key}`. */
const KEY_START = 3;

/** Returns the endpoint that a path names. `url`: begins with `/e/`. */
export function placeByPath(url: string, baseUrl: string): Place {
  const pathStart = endOfKey(url);
  return { key: url.slice(KEY_START, pathStart), pathStart, baseUrl };
}

function endOfKey(url: string): number {
  for (let at = KEY_START; at < url.length; at++) {
    const code = url.charCodeAt(at);
    if (code === 0x2f || code === 0x3f) return at;
  }
  return url.length;
}

const PORT_AND_DOT = /\.?(?::\d*)?$/;

/**
 * Returns null when the request's host is none of `hosts`; else sets the target to path and query, as they came. The host
 * is that of the request itself: `X-Forwarded-Host` may come from any caller, and is not read.
 */
export function placeByHost(req: IncomingMessage, { protocol, suffix }: EndpointHosts): Place | null {
  const url = req.url as string;
  const host = req.headers.host ?? authorityOf(url) ?? '';
  const name = host.toLowerCase().replace(PORT_AND_DOT, '');
  if (!name.endsWith(suffix)) return null;
  req.url = originForm(url);
  return { key: keyOfLabel(name.slice(0, -suffix.length)), pathStart: 0, baseUrl: `${protocol}//${host}` };
}
