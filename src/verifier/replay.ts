// For receivers, `errand/webhooks/replay`: an attacker who recorded a genuine request can send it again while its timestamp is recent.

import { type Genuine, TOLERANCE_S } from './verify.ts';

export interface ReplayGuardOptions {
  /** That of the receiver; 300 by default. */
  readonly toleranceS?: number;
  readonly nowMs?: () => number;
}

/**
 * Tells of each genuine request whether this process has seen it, and remembers it for as long as it would pass. Not a way
 * to handle each event once: the retry of a delivery has the id of the first attempt and a timestamp of its own, so it is no
 * replay. Attempts within one second are taken for one; the sender tries again.
 */
export function createReplayGuard({ toleranceS = TOLERANCE_S, nowMs = Date.now }: ReplayGuardOptions = {}) {
  // The timestamp may lie behind and ahead of now. Two generations: no timer, and no time to keep with each entry.
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
