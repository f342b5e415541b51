// Whether a failed run is retried, and after how long.

import { LIMITS } from '../limits.ts';
import { hadNoRoom } from '../refusal.ts';
import type { ClaimedRun, Fault } from './run.ts';

/** Failures that would most likely repeat at the same cost: retried only when the settings name them. */
export const RETRIED_BY_NAME = ['Timeout', 'OutOfMemory'] as const;

/**
 * Returns the delay before the run is retried from the step that failed; null: no retry. `retries`: retries so far. `jitter`
 * is uniform in [0, 1). A source's run is never retried.
 */
export function retryInMs(
  { runnable }: Pick<ClaimedRun, 'runnable'>,
  fault: Pick<Fault, 'code'>,
  { retries, jitter }: { readonly retries: number; readonly jitter: number },
): number | null {
  const { retry } = runnable.settings;
  if (retry === null || !runnable.id.startsWith('p_') || retries + 1 >= retry.attempts) return null;
  // The run never began: its workflow's queue is full.
  if (hadNoRoom(fault.code)) return null;
  if ((RETRIED_BY_NAME as readonly string[]).includes(fault.code) && !retry.also.includes(fault.code)) return null;
  const delayMs = Math.min(retry.baseMs * 2 ** retries, retry.maxMs);
  return Math.round(Math.min(delayMs * (1 + LIMITS.retryJitter * (2 * jitter - 1)), retry.maxMs));
}
