// For receivers, `errand/webhooks/replay`: an attacker who recorded a genuine request can send it again while its timestamp is recent.

import { type Genuine, TOLERANCE_S } from './verify.ts';

export interface ReplayGuardOptions {
  /** That of the receiver; 300 by default. */
  readonly toleranceS?: number;
  readonly nowMs?: () => number;
}

/**
 * Returns whether this process has seen a genuine request before, and remembers it while its timestamp is accepted. Not a
 * way to process each event once: a retry has the id of the first attempt and its own timestamp, so it is not a replay.
 * Attempts within one second count as one; the sender tries again.
 */
export function createReplayGuard({ toleranceS = TOLERANCE_S, nowMs = Date.now }: ReplayGuardOptions = {}) {
  // Timestamps may be earlier or later than now. Two generations: no timer, and no time stored per entry.
  const spanMs = (2 * toleranceS + 1) * 1000;
  let [young, old] = [new Set<string>(), new Set<string>()];
  let turnedMs = nowMs();
  return ({ id, timestampS }: Genuine): boolean => {
    const now = nowMs();
    if (now - turnedMs >= spanMs) {
      old = now - turnedMs >= 2 * spanMs ? new Set() : young;
      young = new Set();
      turnedMs = now;
    }
    const key = `${timestampS}.${id}`;
    const isReplay = young.has(key) || old.has(key);
    young.add(key);
    return isReplay;
  };
}
