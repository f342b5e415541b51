// When a run began and ended, as it is told. The numbers' clock may be a little ahead of the wall's, and the wall's may be
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
 * When a run began whose last segment came to nothing: its process died, or handed it back. One that has waited has begun
 * with its first segment, and of an abandoned hook it is asked later whether it had begun; any other one has not begun.
 */
export function startBefore(run: {
  readonly startedAtMs: number | null;
  readonly waits: number;
  readonly isAbandonedHook: boolean;
}): number | null {
  return run.waits > 0 || run.isAbandonedHook ? run.startedAtMs : null;
}
