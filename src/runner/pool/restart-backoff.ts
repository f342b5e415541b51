// Delays the restart of processes whose code keeps ending them, or keeps taking too much memory: each start takes 60 ms
// of CPU, and some of the server's own. From the third such end in a row on, the next start is delayed, and each delay
// doubles. The runs wait; none fails because of it.

import { LruCache } from './lru-cache.ts';

/** So many ends in a row cause no delay. */
const FREE_ENDS = 2;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** After so long without such an end, counting starts again. */
const FORGOTTEN_MS = 60_000;
const MAX_KEPT = 10_000;

interface Entry {
  readonly ends: number;
  readonly atMs: number;
  readonly pauseMs: number;
}

export class RestartBackoff {
  readonly #entries = new LruCache<Entry>({ max: MAX_KEPT });

  /** Counts an early end of a process for runs of this key. */
  endedEarly(key: string, nowMs: number): void {
    const entry = this.#entries.get(key);
    const ends = entry && nowMs - entry.atMs < FORGOTTEN_MS ? entry.ends + 1 : 1;
    const doublings = ends - FREE_ENDS - 1;
    const pauseMs = doublings < 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** doublings);
    this.#entries.set(key, { ends, atMs: nowMs, pauseMs });
  }

  /** Returns whether the next process for runs of this key must wait. */
  isPausing(key: string, nowMs: number): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && nowMs - entry.atMs < entry.pauseMs;
  }
}
