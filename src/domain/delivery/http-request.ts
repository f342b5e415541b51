// A request that a run's code asked for (`$.send.http`): the body of an emission called `$http`, with one delivery. Its
// queue belongs to its owner and origin, and is deleted as soon as it is empty.

import { text, utf8 } from '../bytes.ts';
import { LIMITS } from '../limits.ts';
import { channelOfListener } from '../notices/listener.ts';

/** The body of the emission; header names are in lower case. */
export interface AskedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text is sent as UTF-8. */
  readonly body?: string | { readonly $base64: string };
}

/** Replaces a value that may be a credential. */
export const HIDDEN = '(hidden)';

/** Headers that belong to the connection. */
export const CONNECTION_HEADER =
  /^(?:connection|content-length|expect|host|http2-settings|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/;

const LISTENER = 'http:';

export function readRequest(body: Uint8Array): AskedRequest {
  return JSON.parse(text(body)) as AskedRequest;
}

export function isRequestListener(listenerId: string): boolean {
  return listenerId.startsWith(LISTENER);
}

/**
 * Returns the listener of one owner's requests to one origin: requests to a dead origin delay neither other origins nor
 * other owners.
 */
export function requestListener(ownerId: string, { url }: AskedRequest): string {
  return `${LISTENER}${ownerId}:${originOf(url)}`;
}

/** Returns scheme, host and port of a request listener; null for any other listener, also for a channel. */
export function originOfListener(listenerId: string): string | null {
  if (!isRequestListener(listenerId) || channelOfListener(listenerId) !== null) return null;
  return listenerId.slice(listenerId.indexOf(':', LISTENER.length) + 1);
}

/** Cuts a host that is longer than any valid name: requests to such hosts reach no server. */
function originOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname.slice(0, LIMITS.hostChars)}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/** Names the request by its method and host. */
export function titleOf({ method, url }: AskedRequest): string {
  return `${method} ${new URL(url).host.slice(0, LIMITS.hostChars)}`;
}

/**
 * Returns what keys without access to credentials may see: the origin and the names of headers. The path is left out, since
 * some services accept credentials in paths.
 */
export function withoutSecrets({ method, url, headers, body }: AskedRequest): Record<string, unknown> {
  const { origin, pathname, search } = new URL(url);
  const isBare = pathname === '/' && search === '';
  return {
    method,
    url: `${origin}/${isBare ? '' : HIDDEN}`,
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN])),
    ...(body === undefined ? {} : { body: HIDDEN }),
  };
}

/** Returns an emission's body without secrets, as `withoutSecrets` does. */
export function hiddenBody(body: Uint8Array): Uint8Array {
  return utf8(JSON.stringify(withoutSecrets(readRequest(body))));
}
