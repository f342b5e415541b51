// How long the deletion of an owner takes.

import { DAY_MS, MINUTE_MS, SECOND_MS } from '../limits.ts';

export const DELETION = {
  /** Days until an owner is purged, unless a setting says otherwise, and the most that it may say. */
  graceDays: 7,
  maxGraceDays: 366,
  /** From the begin of a purge on: when no request is left that came before the deletion. */
  settledMs: 10 * MINUTE_MS,
  /** Pause before a node looks again at a purge that another node makes. */
  elsewhereMs: SECOND_MS,
  /** Pause between looks at what is under way of an owner whose purge is due. */
  underWayMs: SECOND_MS,
  /** How long a purge waits for the last hooks of sources: long enough for a server that is down for a while. */
  hooksMs: DAY_MS,
};

/** Returns when an owner is purged whose deletion is asked for now. */
export function purgeAtMs(nowMs: number, graceDays: number): number {
  return nowMs + graceDays * DAY_MS;
}
