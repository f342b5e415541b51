// A browser sends a cookie with requests that other pages cause. So a request that comes with a session is answered only when
// it is the dashboard's own: from the same origin, and, for everything that may change something, with a header that no form
// sets and no other origin may send.

import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../domain/refusal.ts';

/** Any value; a page of another origin may not send it without a permission that is never given (CORS). */
export const DASHBOARD_HEADER = 'x-errand-dashboard';

const READING: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);

/** Returns why a request must not use its session cookie; null: it may. */
export function foreignFault({ headers, method }: IncomingMessage, publicUrl: string): Refusal | null {
  if (isForeign({ headers }, publicUrl)) return OTHER_ORIGIN;
  if (!READING.has(method) && headers[DASHBOARD_HEADER] === undefined) return NO_HEADER;
  return null;
}

/** Returns whether a page of another origin caused the request. Programs send neither header. */
export function isForeign({ headers }: Pick<IncomingMessage, 'headers'>, publicUrl: string): boolean {
  // Browsers send it to https and to this machine's own addresses.
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return true;
  return headers.origin !== undefined && !isOwn(headers.origin, headers.host, publicUrl);
}

/** What a browser would run, or apply, as a part of the page that asks for it. */
const PARTS: ReadonlySet<unknown> = new Set([
  ...['script', 'style', 'worker', 'sharedworker', 'serviceworker', 'audioworklet', 'paintworklet', 'xslt', 'manifest'],
  ...['embed', 'object', 'font'],
]);

/**
 * Returns whether a page of this origin would make the answer of an endpoint a part of itself. No page of ours does, and those of
 * workflows are sandboxed, so that none has this origin: only injected markup asks so.
 */
export function isPartOfOwnPage({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['sec-fetch-site'] === 'same-origin' && PARTS.has(headers['sec-fetch-dest']);
}

/**
 * Returns whether an origin is this server's. A proxy may end TLS, so the scheme of the origin is not compared with that of the
 * connection.
 */
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { host: from } = new URL(origin);
  return from !== '' && (from === host?.toLowerCase() || from === new URL(publicUrl).host);
}

const OTHER_ORIGIN = new Refusal(
  'forbidden',
  'This request comes from a page of another origin, which cannot use the session; send "Authorization: Bearer <API key>"',
);
const NO_HEADER = new Refusal('forbidden', `A change with a session needs the header "${DASHBOARD_HEADER}"`);
