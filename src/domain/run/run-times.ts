// The start and end of a run as shown. The clock of run numbers may be slightly ahead of the wall clock, which may be set
// back: in any case no run starts before it was created, and none ends before it started.

import { msOf } from '../ids.ts';

/** Returns the start of a run that begins now. */
export function startOf(run: number, nowMs: number): number {
  return Math.max(nowMs, msOf(run));
}

/** Returns the end of a run that ends now. */
export function endOf(startedAtMs: number | null, nowMs: number): number {
  return startedAtMs === null ? nowMs : Math.max(nowMs, startedAtMs);
}

/**
 * Returns the start of a run that is queued again because its last segment had no result: a run that has waited keeps the
 * start of its first segment, any other has not started.
 */
export function startBefore({ startedAtMs, waits }: { startedAtMs: number | null; waits: number }): number | null {
  return waits > 0 ? startedAtMs : null;
}
