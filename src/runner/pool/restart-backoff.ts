// How soon a process is started again for code whose processes keep ending by themselves, or since they took too much memory:
// each start takes 60 ms of CPU, and some of the server's own. From the third such end in a entry on there is a pause before
// the next start, which doubles. The runs wait; none fails for it.

import { LruCache } from './lru-cache.ts';

/** So many ends in a entry cost nothing. */
const FREE_ENDS = 2;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** After so long without such an end the entry begins anew. */
const FORGOTTEN_MS = 60_000;
const MAX_KEPT = 10_000;

interface Entry {
  readonly ends: number;
  readonly atMs: number;
  readonly pauseMs: number;
}

export class RestartBackoff {
  readonly #entries = new LruCache<Entry>({ max: MAX_KEPT });

  /** A process for runs of this key has ended early. */
  endedEarly(key: string, nowMs: number): void {
    const entry = this.#entries.get(key);
    const ends = entry && nowMs - entry.atMs < FORGOTTEN_MS ? entry.ends + 1 : 1;
    const doublings = ends - FREE_ENDS - 1;
    const pauseMs = doublings < 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** doublings);
    this.#entries.set(key, { ends, atMs: nowMs, pauseMs });
  }

  /** Whether a process for runs of this key is to be started later. */
  isPausing(key: string, nowMs: number): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && nowMs - entry.atMs < entry.pauseMs;
  }
}
