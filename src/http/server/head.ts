// What Node's parser accepts and two readers may still read differently: the host that a request names, and where its body
// ends. Such differences between a proxy and this server allow request smuggling, so the request is refused and its
// connection closed. Node itself refuses two lengths, a length with chunks, a last coding other than chunked, malformed chunks.

import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../domain/refusal.ts';

/** A name, IPv4 address or bracketed IPv6 address, with or without a port (RFC 9110, 7.2). Empty is valid, and means none. */
const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._~%!$&'()*+;=-]*)(?::\d{0,5})?$/;
const ABSOLUTE = /^(https?):\/\/([^/?#]*)/i;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' };

const MISSING = new Refusal('malformed', 'The request has no Host header');
const DUPLICATE = new Refusal('malformed', 'The request has more than one Host header; send one');
const INVALID = new Refusal(
  'malformed',
  'The Host header is not a valid host, such as example.com or example.com:8080',
);
const NO_ADDRESS = new Refusal(
  'malformed',
  'The address in the request line is neither a path nor an http or https URL',
);
const MISMATCH = new Refusal('malformed', 'The Host header names another host than the address in the request line');

const OLD_CHUNKS = new Refusal('malformed', 'HTTP/1.0 has no Transfer-Encoding; send a Content-Length, or HTTP/1.1');

/** Node takes the bytes as they are; a proxy may take off the first coding. */
const CODED_FIRST = /,\s*chunked$/i;
const CODED = new Refusal('malformed', 'The only Transfer-Encoding here is "chunked"; send Content-Encoding instead');

const EXPECTATION = new Refusal('malformed', 'The Expect header asks for something other than 100-continue');

/** Returns what is wrong with the head of `req`; null when nothing is. */
export function headFault(req: IncomingMessage): Refusal | null {
  const { host } = req.headers;
  const isOld = req.httpVersion === '1.0';
  const { expect, 'transfer-encoding': coding } = req.headers;
  if (isOld && coding !== undefined) return OLD_CHUNKS;
  if (coding !== undefined && CODED_FIRST.test(coding)) return CODED;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') return EXPECTATION;
  // HTTP/1.0 has no Host header.
  if (host === undefined) return isOld ? authorityFault(req.url as string, null) : MISSING;
  // `headers` has only the first of several.
  if (countOf(req.rawHeaders, 'host') > 1) return DUPLICATE;
  if (!HOST.test(host)) return INVALID;
  return authorityFault(req.url as string, host);
}

/** Checks that an absolute address in the request line names the same host as the header. */
function authorityFault(url: string, host: string | null): Refusal | null {
  if (url.startsWith('/') || url === '*') return null;
  const [, scheme, authority] = ABSOLUTE.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || authority === '' || !HOST.test(authority)) return NO_ADDRESS;
  if (host === null) return null;
  const ofScheme = (given: string): string =>
    withoutPort(given.toLowerCase(), DEFAULT_PORTS[scheme.toLowerCase()] ?? '');
  return ofScheme(authority) === ofScheme(host) ? null : MISMATCH;
}

function withoutPort(host: string, port: string): string {
  return host.endsWith(port) ? host.slice(0, -port.length) : host;
}

/** Counts headers with this name (lower case). Compares lengths first: it runs for every request. */
export function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] as string;
    if (given.length === name.length && given.toLowerCase() === name) count++;
  }
  return count;
}
