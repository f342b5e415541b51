// When a run began and ended, as it is shown. The numbers' clock may be a little ahead of the wall's, and the wall's may be
// set back: whatever the clocks say, nothing starts before it was created, and nothing ends before it started.

import { msOf } from '../ids.ts';

/** When a run begins that begins now. */
export function startOf(run: number, nowMs: number): number {
  return Math.max(nowMs, msOf(run));
}

/** When a run ends that ends now. */
export function endOf(startedAtMs: number | null, nowMs: number): number {
  return startedAtMs === null ? nowMs : Math.max(nowMs, startedAtMs);
}

/**
 * When a run began that is queued again, since its last segment came to nothing: one that has waited began with its first
 * segment, any other one has not begun. A run that is over keeps its start, however it ended.
 */
export function startBefore({ startedAtMs, waits }: { startedAtMs: number | null; waits: number }): number | null {
  return waits > 0 ? startedAtMs : null;
}
