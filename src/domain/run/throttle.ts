// A throttled workflow: at most `limit` of its runs begin within any `intervalMs` (an interval that holds its first
// millisecond, and not the one behind its last). What may not begin yet waits in the queue.
//
// Of what was before, the newest `limit` starts say all: one more may begin as soon as the oldest of these is `intervalMs`
// ago. A counter per interval would need one number, and would let twice the limit begin where two intervals meet.

import type { Throttle } from '../resource.ts';

/** When runs began: epoch milliseconds, oldest first. */
export type StartTimes = readonly number[];

/** How many may begin now; 0: none before `nextStartMs`. */
export function roomAt(throttle: Throttle, starts: StartTimes, nowMs: number): number {
  const known = startsAsOf(starts, nowMs);
  return Math.max(0, throttle.limit - (known.length - firstWithin(throttle, known, nowMs)));
}

/** When the next one may begin; `nowMs`: now. */
export function nextStartMs(throttle: Throttle, starts: StartTimes, nowMs: number): number {
  const oldest = startsAsOf(starts, nowMs).at(-throttle.limit);
  return oldest === undefined ? nowMs : Math.max(nowMs, oldest + throttle.intervalMs);
}

/** With `count` more that begin now. Only what a later question may need is kept: never more than the limit. */
export function withStarts(throttle: Throttle, starts: StartTimes, now: { nowMs: number; count: number }): StartTimes {
  const { nowMs, count } = now;
  const known = startsAsOf(starts, nowMs);
  const recent = known.slice(firstWithin(throttle, known, nowMs));
  return [...recent, ...new Array<number>(count).fill(nowMs)].slice(-throttle.limit);
}

/**
 * The clock may have been set back: what seems to be still to come has begun by now. A caller that keeps this instead of what
 * it was made of lets the next one begin an interval from now, and not when the clock has caught up.
 */
export function startsAsOf(starts: StartTimes, nowMs: number): StartTimes {
  const newest = starts.at(-1);
  return newest === undefined || newest <= nowMs ? starts : starts.map((ms) => Math.min(ms, nowMs));
}

/** Where the starts begin that count now. */
function firstWithin({ intervalMs }: Throttle, starts: StartTimes, nowMs: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) > nowMs - intervalMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
