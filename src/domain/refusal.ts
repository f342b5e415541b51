// The closed table of refusals that callers see, as `application/problem+json`. docs/errors.md lists the same; a test
// compares them. Any other exception goes out as `internal`, and is logged with its stack.

export const REFUSALS = {
  malformed: { status: 400, title: 'Bad request' },
  no_answer: { status: 400, title: 'No answer from the workflow' },
  unauthenticated: { status: 401, title: 'Authentication needed' },
  forbidden: { status: 403, title: 'Not allowed with this key' },
  owner_deleted: { status: 403, title: 'The owner is being deleted' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  too_slow: { status: 408, title: 'Too slow' },
  conflict: { status: 409, title: 'Conflict' },
  precondition_failed: { status: 412, title: 'Changed meanwhile' },
  too_large: { status: 413, title: 'Too large' },
  unsupported_media: { status: 415, title: 'Unsupported media type' },
  impossible: { status: 422, title: 'Cannot be done' },
  code_invalid: { status: 422, title: 'The code does not compile' },
  key_reused: { status: 422, title: 'Idempotency-Key of another request' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Not available now' },
  run_timeout: { status: 504, title: 'The workflow took too long' },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** One wrong parameter. For code: with file, line (from 1) and column (from 1). */
export interface ParameterFault {
  readonly parameter: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** Thrown anywhere below HTTP to answer with this problem. `detail` names what is wrong, the value, and what is allowed. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly errors: readonly ParameterFault[];
  readonly retryAfterS: number | null;

  constructor(
    code: RefusalCode,
    detail: string,
    more: { errors?: readonly ParameterFault[]; retryAfterS?: number } = {},
  ) {
    super(detail);
    this.code = code;
    this.errors = more.errors ?? [];
    this.retryAfterS = more.retryAfterS ?? null;
  }
}

/** Codes that only the platform gives to a failed run or delivery, or to a watch; a thrown error cannot use them. */
export const PLATFORM_CODES = [
  'Timeout',
  'OutOfMemory',
  'WorkerLost',
  'WorkerExit',
  'StartFailed',
  'PayloadTooLarge',
  'QueueFull',
  'RateLimited',
  'ConfigurationError',
  'DeliveryExhausted',
  'DeliveryRefused',
  'WebhookGone',
  'WebhookFailing',
  'WebhookDisabled',
  'Silent',
  'Unhealthy',
  'HeartbeatFailed',
  'ThrownAfterEnd',
  'LostAfterEnd',
  'Internal',
] as const;

/** The code of an exception of code whose run had ended. */
export const THROWN_AFTER_END = 'ThrownAfterEnd';
/** The code of calls without effect of code whose run had ended: what was to be sent is lost. */
export const LOST_AFTER_END = 'LostAfterEnd';

/** Returns whether an error of this code is of what a run has left behind. No run failed. */
export function isAfterEnd(code: string | null | undefined): boolean {
  return code === THROWN_AFTER_END || code === LOST_AFTER_END;
}

/** Returns whether a run never began because its queue was full. */
export function hadNoRoom(code: string | null | undefined): boolean {
  return code === 'QueueFull' || code === 'RateLimited';
}
