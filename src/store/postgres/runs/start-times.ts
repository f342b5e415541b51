// When the last runs of a throttled workflow began, as its queue keeps it for all nodes.

import { SECOND_MS } from '../../../domain/limits.ts';
import type { Throttle } from '../../../domain/resource.ts';
import { addStarts, type StartTimes, startTimesAsOf } from '../../../domain/run/throttle.ts';

/**
 * Starts may lie a little ahead of now: another node has a later time, or a run's number is ahead because many were given at
 * once. If they lie further ahead, the clock was set back.
 */
const MAX_AHEAD_MS = 5 * SECOND_MS;

export const NEVER: StartTimes = [];

/** Reads the text of `keptStarts`: each start as the time since the one before. */
export function toStartTimes(kept: string | null): StartTimes {
  if (kept === null) return NEVER;
  let last = 0;
  return kept.split(' ').map((ms) => {
    last += Number(ms);
    return last;
  });
}

export function storedStartTimes(starts: StartTimes): string | null {
  if (starts.length === 0) return null;
  return starts.map((ms, i) => ms - (starts[i - 1] ?? 0)).join(' ');
}

/** Returns starts as they count when the clock was set back; else the same. */
export function settled(starts: StartTimes, nowMs: number): StartTimes {
  return (starts.at(-1) ?? 0) > nowMs + MAX_AHEAD_MS ? startTimesAsOf(starts, nowMs) : starts;
}

/** Returns starts with new ones. `atMs`: when the last of them begins. */
export function withMore(throttle: Throttle, starts: StartTimes, of: { atMs: number; count: number }): StartTimes {
  const nowMs = Math.max(of.atMs, starts.at(-1) ?? 0);
  return addStarts(throttle, starts, { nowMs, count: of.count });
}
