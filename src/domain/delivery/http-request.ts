// A request that a run's code asked for (`$.send.http`): the body of an emission called `$http`, and one delivery of it. The
// line that it stands in is that of its owner and origin, and is gone as soon as nothing waits in it.

import { text, utf8 } from '../bytes.ts';
import { LIMITS } from '../limits.ts';

/** As the emission's body has it; header names are in lower case. */
export interface AskedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text goes out as UTF-8. */
  readonly body?: string | { readonly $base64: string };
}

/** What stands in place of a value that may be a credential. */
export const HIDDEN = '(hidden)';

/** Headers that are the connection's own. */
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
 * The listener of one owner's requests to one place: those to a place that is dead hold up no others, and no other
 * owner's.
 */
export function requestListener(ownerId: string, { url }: AskedRequest): string {
  return `${LISTENER}${ownerId}:${originOf(url)}`;
}

/** Scheme, host and port of what a listener stands for; null: it is another one. */
export function originOfListener(listenerId: string): string | null {
  if (!isRequestListener(listenerId)) return null;
  return listenerId.slice(listenerId.indexOf(':', LISTENER.length) + 1);
}

/** A host that is longer than any name may be is cut: requests to such hosts reach no server. */
function originOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${hostname.slice(0, LIMITS.hostChars)}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

/** The request by its method and host. */
export function titleOf({ method, url }: AskedRequest): string {
  return `${method} ${new URL(url).host.slice(0, LIMITS.hostChars)}`;
}

/**
 * What may be shown to keys that may not see credentials: where it goes and the names of its headers. Also paths are
 * credentials at some places.
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

/** The same, of an emission's body. */
export function hiddenBody(body: Uint8Array): Uint8Array {
  return utf8(JSON.stringify(withoutSecrets(readRequest(body))));
}
