// Which calls are made again, and when. A call that may have been done is repeated only when doing it twice is the same as
// doing it once: GET, PUT and DELETE, and what has an idempotency key. A refusal that says "later" was not done at all.

import { ConnectionError, ProblemError } from './problem.ts';

/** The server has not begun with these. */
const NOT_DONE: ReadonlySet<number> = new Set([429]);
/** Of the server when it stops or cannot write, and of proxies before it. */
const PASSING: ReadonlySet<number> = new Set([408, 502, 503, 504]);
const BASE_MS = 250;
const MAX_MS = 10_000;
/** A caller would not wait longer without being told. */
const MAX_RETRY_AFTER_MS = 60_000;

export interface Tried {
  /** Attempts that were made. */
  readonly attempts: number;
  /** Retries that are allowed. */
  readonly retries: number;
  readonly isRepeatable: boolean;
}

/** Returns how long to wait before the next attempt; null: there is none. */
export function retryDelayMs(error: unknown, { attempts, retries, isRepeatable }: Tried): number | null {
  if (attempts > retries || !isPassing(error, isRepeatable)) return null;
  const asked = error instanceof ProblemError ? error.retryAfterMs : null;
  if (asked === null) return backoffMs(attempts);
  // So that callers who were refused together do not come back together.
  return asked > MAX_RETRY_AFTER_MS ? null : asked + Math.random() * BASE_MS;
}

/** Returns whether another attempt may end in another way. */
function isPassing(error: unknown, isRepeatable: boolean): boolean {
  if (error instanceof ConnectionError) return isRepeatable || !error.wasSent;
  if (!(error instanceof ProblemError)) return false;
  // The run of a workflow took too long, and its answer is kept with the idempotency key.
  if (error.code === 'run_timeout') return false;
  return NOT_DONE.has(error.status) || (isRepeatable && PASSING.has(error.status));
}

/** Returns the wait behind the `n`th failure in a row, from 1: growing, and never the same for all callers. */
export function backoffMs(n: number, maxMs = MAX_MS): number {
  return Math.min(maxMs, BASE_MS * 2 ** (n - 1)) * (0.5 + Math.random() / 2);
}

/** Resolves after that time. Rejects with the signal's reason once it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
