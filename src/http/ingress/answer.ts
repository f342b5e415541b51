// Answers of the ingress: the emit id, or what a workflow gave to `$.respond`.

import type { ServerResponse } from 'node:http';
import { KIB } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { HttpAnswer } from '../../domain/run/run.ts';
import { validateHeaderName, validateHeaderValue } from '../../node-http.ts';
import type { Exchange } from '../response.ts';
import type { Place } from './place.ts';
import { boundToEndpoint, cookiePathOf } from './set-cookie.ts';

/** Headers of one connection, set by the server, in force for the whole origin, or orders to a proxy: a workflow cannot set them. */
const DROPPED = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-content-type-options',
  'x-request-id',
  // A browser keeps these for the whole origin, including other owners' pages and the documentation: redirects, data to
  // delete, where to report requests (whose paths are secrets), which session each request waits for, what requests tell of
  // their sender, what they are compressed by, and for how long.
  'accept-ch',
  'alt-svc',
  'clear-site-data',
  'critical-ch',
  'expect-ct',
  'nel',
  'origin-agent-cluster',
  'public-key-pins',
  'public-key-pins-report-only',
  'report-to',
  'sec-session-registration',
  'secure-session-registration',
  'service-worker-allowed',
  'set-login',
  'strict-transport-security',
  'use-as-dictionary',
  // A proxy in front obeys these: it would answer with another route of the origin or with a file of its own, without the policy
  // below, or keep the answer for other callers.
  'x-accel-charset',
  'x-accel-expires',
  'x-accel-limit-rate',
  'x-accel-redirect',
  'x-lighttpd-send-file',
  'x-lighttpd-send-tempfile',
  'x-litespeed-location',
  'x-reproxy-file',
  'x-reproxy-url',
  'x-sendfile',
  'x-sendfile2',
]);
/** Each part has its own headers, and browsers have applied those to the whole answer. */
const MULTIPART_PAGE = /multipart\s*\/\s*x-mixed-replace/i;
const MIN_STATUS = 200;
/** Copying more as text would take longer than it saves. */
const ONE_STRING_BYTES = 8 * KIB;
const MAX_STATUS = 599;

/**
 * A workflow's page has the same origin as the service itself; sandboxed, its scripts cannot act there as its reader. A
 * policy of the workflow comes on top: a browser enforces all policies it gets, so an additional one cannot lift this one.
 */
const SANDBOX = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts';

/** Answers with the emission's id. The hot path: a flat header list, and the body as text, so that both leave in one write. */
export function writeEmitId(res: ServerResponse, emitId: string, requestId: string): void {
  if (res.destroyed) return;
  const body = `{"id":"${emitId}"}`;
  res.writeHead(200, [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(body.length),
    'x-request-id',
    requestId,
  ]);
  res.end(body, 'latin1');
}

/** Sends what a workflow answered. Refuses (500) invalid HTTP before anything is written. */
export function writeAnswer({ req, res, requestId }: Exchange, answer: HttpAnswer, place: Place): void {
  const { status, body } = answer;
  if (!Number.isInteger(status) || status < MIN_STATUS || status > MAX_STATUS) {
    throw new Refusal('internal', `The workflow answered with the status ${status}; it must be from 200 to 599`);
  }
  const headers: [string, string][] = [['x-request-id', requestId]];
  for (const [name, given] of Object.entries(answer.headers)) {
    const known = name.toLowerCase();
    if (DROPPED.has(known)) continue;
    for (const value of typeof given === 'string' ? [given] : given) {
      checkHeader(name, value);
      const isCookie = known === 'set-cookie';
      headers.push([name, isCookie ? boundToEndpoint(value, cookiePathOf(req.url as string, place)) : value]);
    }
  }
  headers.push(['content-security-policy', SANDBOX]);
  if (status !== 204 && status !== 304) headers.push(['content-length', String(body.byteLength)]);
  if (res.destroyed) return;
  res.writeHead(status, headers.flat());
  // As text, a small body joins the head in one string. As bytes it would be a second buffer, and the write a `writev`.
  if (body.byteLength <= ONE_STRING_BYTES) res.end(latin1Of(body), 'latin1');
  else res.end(body);
}

/** Returns the bytes as text of one character each. */
function latin1Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

function checkHeader(name: string, value: string): void {
  if (name.toLowerCase() === 'content-type' && MULTIPART_PAGE.test(value)) {
    throw new Refusal('internal', 'The workflow answered with multipart/x-mixed-replace, which is not possible here');
  }
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new Refusal(
      'internal',
      `The workflow answered with the header ${JSON.stringify(name)}, which is not valid HTTP`,
    );
  }
}
