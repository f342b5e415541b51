// Whether a run that failed is tried again, and after how long.

import { hadNoRoom } from '../fault.ts';
import { LIMITS } from '../limits.ts';
import type { ClaimedRun, Fault } from './run.ts';

/** What would most likely cost as much once more: tried again only when the settings name it. */
export const RETRIED_BY_NAME = ['Timeout', 'OutOfMemory'] as const;

/**
 * How long the run waits before it is tried again from the step that failed; null: it is not. `retries`: its failed
 * attempts that were tried again already. `jitter` is uniform in [0, 1). Sources are tried with their next event, never again.
 */
export function retryInMs(
  { runnable }: Pick<ClaimedRun, 'runnable'>,
  fault: Pick<Fault, 'code'>,
  { retries, jitter }: { readonly retries: number; readonly jitter: number },
): number | null {
  const { retry } = runnable.settings;
  if (retry === null || !runnable.id.startsWith('p_') || retries + 1 >= retry.attempts) return null;
  // It never ran, and its workflow has no room.
  if (hadNoRoom(fault.code)) return null;
  if ((RETRIED_BY_NAME as readonly string[]).includes(fault.code) && !retry.also.includes(fault.code)) return null;
  const delayMs = Math.min(retry.baseMs * 2 ** retries, retry.maxMs);
  return Math.round(Math.min(delayMs * (1 + LIMITS.retryJitter * (2 * jitter - 1)), retry.maxMs));
}
