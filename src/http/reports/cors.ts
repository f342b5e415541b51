// What browsers ask before a page of another origin may send errors here. Allowed at the addresses that take errors and
// nothing else: the API itself answers no other origin.

import type { ServerResponse } from 'node:http';

/** On every answer at such an address, also a refusal: without them the page cannot read when to try again. */
export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'retry-after, x-request-id, x-sentry-error, x-sentry-rate-limits',
  'cross-origin-resource-policy': 'cross-origin',
} as const;

const PREFLIGHT = {
  ...CORS,
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers':
    'authorization, content-type, content-encoding, idempotency-key, x-sentry-auth, sentry-trace, baggage',
  'access-control-max-age': '86400',
} as const;

/** Answers `OPTIONS`. */
export function writePreflight(res: ServerResponse, requestId: string): void {
  if (res.destroyed) return;
  res.writeHead(204, { ...PREFLIGHT, 'x-request-id': requestId });
  res.end();
}
