// The database's clock, as this node knows it: what the database last said, and the time measured since by a clock that
// never jumps. A machine whose own clock is wrong does no harm with it.

import type { Clock } from '../../ports.ts';

/** Milliseconds of the database's clock, as SQL. */
export const NOW_SQL = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

export class DatabaseClock implements Clock {
  readonly #stand: Clock | null;
  #offsetMs = Date.now() - performance.now();

  /** `stand`: in tests, a clock that stands in for the database's. */
  constructor(stand: Clock | null) {
    this.#stand = stand;
  }

  nowMs(): number {
    return this.#stand ? this.#stand.nowMs() : Math.floor(performance.now() + this.#offsetMs);
  }

  /** The stand-in's time, or null: then statements ask the database themselves. */
  standMs(): number | null {
    return this.#stand?.nowMs() ?? null;
  }

  /** The database said this just now; the answer is the time to go by. */
  heard(databaseMs: number): number {
    if (this.#stand) return this.#stand.nowMs();
    this.#offsetMs = databaseMs - performance.now();
    return databaseMs;
  }
}
