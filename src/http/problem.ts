// Every refusal is sent as RFC 9457 `application/problem+json`. An unknown error is sent as `internal`, without its details,
// and logged whole with the request's id.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { LIMITS } from '../domain/limits.ts';
import { REFUSALS, Refusal } from '../domain/refusal.ts';
import { StoreUnavailable } from '../store/contract/unavailable.ts';
import { discard, keepsConnection } from './body/body.ts';
import type { HttpDeps } from './deps.ts';

/** A refusal as sent; `body` is JSON text, or a page. */
export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Seconds after which a caller may try again when no better time is known. */
const RETRY_AFTER_S = 1;
const DAMAGED = 'The part of the store that has this is damaged. "errand store check" reports what is.';
const INTERNAL = 'An internal error. The log has its details under the x-request-id of this answer.';

/** Returns the refusal for a thrown value; null when that is a bug or broken infrastructure. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreUnavailable) {
    if (error.isDamaged) return new Refusal('unavailable', DAMAGED);
    const written = error.mayBeWritten
      ? 'it failed in the middle of a commit, which may have happened. Look before you try again.'
      : 'nothing was written. Try again.';
    return new Refusal('unavailable', `Storage does not answer at present; ${written}`);
  }
  if (!(error instanceof Error)) return null;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  if (typeof code !== 'string' || !code.startsWith('FST_ERR_')) return null;
  if (code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new Refusal('malformed', `A part of the path is longer than ${LIMITS.pathPartChars} characters`);
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new Refusal(
      'unsupported_media',
      'The Content-Type header is no media type; a body here is application/json',
    );
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Refusal('too_large', error.message);
  const isCallersFault = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isCallersFault ? new Refusal('malformed', error.message) : null;
}

/** Returns the answer to `error` and counts it. Logs unknown errors whole, under the request's id. */
export function problemOf(
  error: unknown,
  requestId: string,
  deps: Pick<HttpDeps, 'log' | 'metrics' | 'storageFailed'>,
): Problem {
  if (error instanceof StoreUnavailable) deps.storageFailed?.(error);
  const refusal = refusalOf(error);
  if (refusal) return refused(refusal, requestId, deps);
  deps.log.error({ request_id: requestId, err: error }, 'http.internal');
  return refused(new Refusal('internal', INTERNAL), requestId, deps);
}

/** Returns the answer that refuses a request, and counts it. */
export function refused(refusal: Refusal, requestId: string, { metrics }: Pick<HttpDeps, 'metrics'>): Problem {
  metrics.refused(refusal.code);
  return problemFrom(refusal, requestId);
}

/** Returns the answer that refuses a request, uncounted. */
export function problemFrom(refusal: Refusal, requestId: string): Problem {
  const { status, title } = REFUSALS[refusal.code];
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': requestId,
  };
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (refusal.retryAfterS !== null) headers['retry-after'] = String(refusal.retryAfterS);
  else if (status === 429 || status === 503) headers['retry-after'] = String(RETRY_AFTER_S);
  const body = JSON.stringify({
    type: `/docs/errors#${refusal.code}`,
    title,
    status,
    detail: refusal.message,
    error: refusal.message,
    ...(refusal.errors.length > 0 ? { errors: refusal.errors } : {}),
  });
  return { status, headers, body };
}

/** Sends a problem, like `writeProblem`, for a request that Fastify answers. */
export function sendProblem(reply: FastifyReply, problem: Problem): void {
  const { raw } = reply.request;
  if (keepsConnection(raw)) {
    reply.code(problem.status).headers(problem.headers).send(problem.body);
  } else {
    reply.hijack();
    writeProblem(raw, reply.raw, problem);
  }
}

/**
 * Answers on a bare response. When much of the request is still to arrive, some of it is read and discarded before the
 * connection closes: closing at once would reset it, and the caller would never see the answer.
 */
export function writeProblem(req: IncomingMessage, res: ServerResponse, problem: Problem): void {
  if (res.headersSent || res.destroyed) return;
  const length = String(Buffer.byteLength(problem.body));
  if (keepsConnection(req)) {
    res.writeHead(problem.status, { ...problem.headers, 'content-length': length });
    res.end(problem.body);
    return;
  }
  res.writeHead(problem.status, { ...problem.headers, 'content-length': length, connection: 'close' });
  if (req.method !== 'HEAD') res.write(problem.body);
  else res.flushHeaders();
  discard(req, () => res.end());
}
