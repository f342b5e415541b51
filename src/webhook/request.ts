// A request that code asked for, as sent: its own headers, and Errand's where it does not set them.

import type { ClaimedDelivery } from '../domain/delivery/delivery.ts';
import { CONNECTION_HEADER, readRequest } from '../domain/delivery/http-request.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Addresses } from './address.ts';
import { type Failure, forbidden, Unsendable } from './failure.ts';

export interface Prepared {
  readonly method: string;
  readonly url: URL;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Uint8Array | null;
  /** Those of `headers` that Errand set for a trace. */
  readonly context?: readonly string[];
}

/** Throws `Unsendable`. Judges the address again before connecting; refuses credentials in the URL. */
export function prepareRequest(
  { emission }: ClaimedDelivery,
  { addresses, userAgent }: { addresses: Addresses; userAgent: string },
): Prepared | Failure {
  const { method, url, headers, body } = readRequest(emission.body);
  const judged = addresses.judgeUrl(url, LIMITS.requestUrlChars);
  if (!judged.ok) return forbidden(judged.reason);
  const own = Object.entries(headers);
  const reserved = own.find(([name]) => CONNECTION_HEADER.test(name.toLowerCase()));
  if (reserved) throw new Unsendable(`the header ${JSON.stringify(reserved[0])} is the connection’s own`);
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  // The same key with each attempt, so that a receiver that supports it processes the request once.
  const ours = { 'user-agent': userAgent, 'accept-encoding': 'identity', 'idempotency-key': emission.emitId };
  const missing = Object.entries(ours).filter(([name]) => !names.has(name));
  return { method, url: judged.url, headers: [...missing, ...own].flat(), body: bytesOf(body) };
}

function bytesOf(body: ReturnType<typeof readRequest>['body']): Uint8Array | null {
  if (body === undefined) return null;
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.$base64, 'base64');
}
