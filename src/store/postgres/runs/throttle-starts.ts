// When the last runs of a throttled workflow began, as its queue remembers it for all nodes.

import { SECOND_MS } from '../../../domain/limits.ts';
import type { Throttle } from '../../../domain/resource.ts';
import { type StartTimes, startsAsOf, withStarts } from '../../../domain/run/throttle.ts';

/**
 * What has begun may be recorded a little ahead of now: another node has heard the time later, or its run's number, which
 * is ahead when many are given at once. By more than this, the clock was set back.
 */
const MAX_AHEAD_MS = 5 * SECOND_MS;

export const NEVER: StartTimes = [];

/** From the queue's row: each as the time since the one before it. */
export function toStarts(kept: string | null): StartTimes {
  if (kept === null) return NEVER;
  let last = 0;
  return kept.split(' ').map((ms) => {
    last += Number(ms);
    return last;
  });
}

export function keptStarts(starts: StartTimes): string | null {
  if (starts.length === 0) return null;
  return starts.map((ms, i) => ms - (starts[i - 1] ?? 0)).join(' ');
}

/** What is to be kept in their place when the clock was set back; else the same. */
export function settled(starts: StartTimes, nowMs: number): StartTimes {
  return (starts.at(-1) ?? 0) > nowMs + MAX_AHEAD_MS ? startsAsOf(starts, nowMs) : starts;
}

/** `atMs`: when the last of those that begin does. */
export function withMore(throttle: Throttle, starts: StartTimes, of: { atMs: number; count: number }): StartTimes {
  const nowMs = Math.max(of.atMs, starts.at(-1) ?? 0);
  return withStarts(throttle, starts, { nowMs, count: of.count });
}
