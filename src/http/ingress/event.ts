// The event of an HTTP request: JSON text, written by hand around the body's own bytes.

import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { LIMITS } from '../../domain/limits.ts';
import { checkDepth, depthOf } from '../body/nesting.ts';
import { clientIp } from '../server/client-ip.ts';
import { withoutSessions } from '../session/session-cookie.ts';
import { bodyFormJson, formJson } from './form.ts';

export interface EventOptions {
  /** Where the event's path starts in the request's URL. */
  readonly pathStart: number;
  /** What the caller has put before the request's URL. */
  readonly baseUrl: string;
  /** The token was checked: it must not reach the code or the log. */
  readonly isVerified: boolean;
  /** Adds the body's exact text, for code that checks a signature over it, and recognises JSON without its content type. */
  readonly isForSource: boolean;
}

const FORM = 'application/x-www-form-urlencoded';

/** Returns `{"method":…,"path":…,"query":…,"client_ip":…,"url":…,"headers":…,"body":…}` in UTF-8. Throws `Refusal` for a body nested too deep. */
export function eventBytes(req: IncomingMessage, body: Buffer, options: EventOptions): Buffer {
  const head = headOf(req, options);
  const shown = bodyJson(body, req.headers['content-type'], options.isForSource);
  const tail = options.isForSource ? `,"bodyRaw":${rawJson(body)}}` : '}';
  if (typeof shown === 'string') return Buffer.from(head + shown + tail);
  // From the shared pool: a small event takes 1.2 µs with its own memory, 0.4 µs from the pool.
  const headBytes = Buffer.byteLength(head);
  const whole = Buffer.allocUnsafe(headBytes + shown.length + Buffer.byteLength(tail));
  whole.write(head, 0);
  shown.copy(whole, headBytes);
  whole.write(tail, headBytes + shown.length);
  return whole;
}

function headOf(req: IncomingMessage, { pathStart, baseUrl, isVerified }: EventOptions): string {
  const url = req.url as string;
  const queryStart = url.indexOf('?', pathStart);
  const path = queryStart < 0 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  const query = queryStart < 0 ? '{}' : formJson(url.slice(queryStart + 1));
  const headers = headersFor(req.headers, isVerified);
  return `{"method":"${req.method}","path":${JSON.stringify(path || '/')},"query":${query},"client_ip":${JSON.stringify(clientIp(req))},"url":${JSON.stringify(baseUrl + url)},"headers":${JSON.stringify(headers)},"body":`;
}

/** Returns the headers without what the code and readers of the log could use as their sender. */
function headersFor(headers: IncomingHttpHeaders, isVerified: boolean): IncomingHttpHeaders {
  const { cookie } = headers;
  if (cookie === undefined && !isVerified) return headers;
  return {
    ...headers,
    ...(cookie !== undefined && { cookie: withoutSessions(cookie) }),
    ...(isVerified && { authorization: undefined }),
  };
}

/**
 * Returns the member `body`: the bytes themselves when they are JSON by type and content, or for a source an object or array by
 * content alone; else JSON text made of them. Throws for JSON nested too deep.
 */
function bodyJson(body: Buffer, contentType: string | undefined, isForSource: boolean): Buffer | string {
  if (body.length === 0) return 'null';
  const type = mediaTypeOf(contentType);
  const isJson = isJsonType(type);
  const depth = isJson || (isForSource && looksLikeJson(type, body)) ? depthOf(body) : null;
  if (depth !== null && (isJson || depth <= LIMITS.nestingDepth)) {
    checkDepth(depth);
    return body;
  }
  if (!isUtf8(body)) return base64Json(body);
  const text = body.toString();
  if (type !== FORM) return JSON.stringify(text);
  return bodyFormJson(text, charsetOf(contentType)) ?? base64Json(body);
}

function rawJson(body: Buffer): string {
  return isUtf8(body) ? JSON.stringify(body.toString()) : base64Json(body);
}

function base64Json(bytes: Buffer): string {
  return `{"$base64":"${bytes.toString('base64')}"}`;
}

function mediaTypeOf(contentType: string | undefined): string {
  if (contentType === undefined || contentType === 'application/json') return contentType ?? '';
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

function charsetOf(contentType: string | undefined): string | null {
  return /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '')?.[1] ?? null;
}

/** Returns whether a body may be an object or array: some services, such as Amazon SNS, send JSON as `text/plain`. */
function looksLikeJson(type: string, body: Buffer): boolean {
  return type !== FORM && /^\s*[[{]/.test(body.toString('latin1', 0, 64));
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json');
}
