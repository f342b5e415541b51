// A throttled workflow: at most `limit` of its runs begin within any `intervalMs` (an interval includes its first
// millisecond and excludes the one behind its last). Other runs wait in the queue.
//
// The newest `limit` starts decide: one more run may begin as soon as the oldest of them is `intervalMs` ago. A counter per
// interval would need one number, but would let twice the limit begin where two intervals meet.

import type { Throttle } from '../resource.ts';

/** Starts of runs: epoch milliseconds, oldest first. */
export type StartTimes = readonly number[];

/** Returns how many runs may begin now; 0: none before `nextStartMs`. */
export function roomAt(throttle: Throttle, starts: StartTimes, nowMs: number): number {
  const known = startTimesAsOf(starts, nowMs);
  return Math.max(0, throttle.limit - (known.length - firstWithin(throttle, known, nowMs)));
}

/** Returns when the next run may begin; `nowMs`: now. */
export function nextStartMs(throttle: Throttle, starts: StartTimes, nowMs: number): number {
  const oldest = startTimesAsOf(starts, nowMs).at(-throttle.limit);
  return oldest === undefined ? nowMs : Math.max(nowMs, oldest + throttle.intervalMs);
}

/** Appends `count` starts at `nowMs`. Keeps only as many starts as later calls need: at most the limit. */
export function addStarts(throttle: Throttle, starts: StartTimes, now: { nowMs: number; count: number }): StartTimes {
  const { nowMs, count } = now;
  const known = startTimesAsOf(starts, nowMs);
  const recent = known.slice(firstWithin(throttle, known, nowMs));
  return [...recent, ...new Array<number>(count).fill(nowMs)].slice(-throttle.limit);
}

/**
 * Moves starts that seem to lie in the future to now, since the clock may have been set back. Once stored, the result lets
 * the next run begin an interval from now, and not when the clock has caught up.
 */
export function startTimesAsOf(starts: StartTimes, nowMs: number): StartTimes {
  const newest = starts.at(-1);
  return newest === undefined || newest <= nowMs ? starts : starts.map((ms) => Math.min(ms, nowMs));
}

/** Returns the index of the first start that still counts. */
function firstWithin({ intervalMs }: Throttle, starts: StartTimes, nowMs: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) > nowMs - intervalMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
