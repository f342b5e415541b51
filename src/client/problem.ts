// What goes wrong with a call: the server refuses it (`ProblemError`), or there is no answer of the server (`ConnectionError`).

import type { Problem } from './generated/types.ts';

/** The codes of refusals, as docs/errors.md has them. */
export type ProblemCode = Problem['type'] extends `/docs/errors#${infer Code}` ? Code : never;

/** One parameter that was wrong. Of code: with file, line and column. */
export type ParameterProblem = NonNullable<Problem['errors']>[number];

export interface ProblemDetails {
  readonly status: number;
  /** Null: what answered is no Errand, such as a proxy. */
  readonly code: ProblemCode | null;
  readonly detail: string;
  readonly errors: readonly ParameterProblem[];
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
}

/** The server refused a call. `message` says what was wrong, with which value, and what would be right. */
export class ProblemError extends Error implements ProblemDetails {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly code: ProblemCode | null;
  readonly detail: string;
  readonly errors: readonly ParameterProblem[];
  /** Under which the server's log has what belongs to the call. */
  readonly requestId: string | null;
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number | null;

  constructor(details: ProblemDetails) {
    super(details.detail);
    this.status = details.status;
    this.code = details.code;
    this.detail = details.detail;
    this.errors = details.errors;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** No answer came, or none that can be read. What was asked for may have been done, unless `wasSent` is false. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly wasSent: boolean;

  constructor(message: string, options: { cause?: unknown; wasSent?: boolean } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.wasSent = options.wasSent ?? true;
  }
}

/** Returns what a refusal says; `nowMs`: Retry-After may be a date. */
export function problemOf(response: Response, text: string, nowMs: number): ProblemError {
  const problem = parsed(text);
  const [, code = null] = /#(\w+)$/.exec(problem.type ?? '') ?? [];
  const seen = problem.detail ?? unexplained(response);
  return new ProblemError({
    status: response.status,
    code: code as ProblemCode | null,
    detail: seen,
    errors: Array.isArray(problem.errors) ? problem.errors : [],
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: readRetryAfter(response.headers.get('retry-after'), nowMs),
  });
}

/** Returns what is said of a refusal that is not in the server's own words: a proxy's page, or that of another program. */
function unexplained({ status, statusText, url }: Response): string {
  const at = /^https?:\/\/[^/]+/.exec(url)?.[0];
  const who = at === undefined ? 'the server' : at;
  return `${who} answered ${`${status} ${statusText}`.trim()} without a reason: a proxy before the server, or not an Errand server`;
}

function parsed(text: string): Partial<Problem> {
  try {
    const value = JSON.parse(text) as Partial<Problem> | null;
    if (typeof value?.detail === 'string') return value;
  } catch {
    // A proxy's page.
  }
  return {};
}

/** Returns how long to wait: seconds, or a date (RFC 9110). Null: nothing that can be read. */
export function readRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000;
  // Of numbers, too, the parser makes dates.
  const atMs = /^[A-Z][a-z]+, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
