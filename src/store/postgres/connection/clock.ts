// The database's clock, as this node knows it: between which two times it stands, by what the database said and by when it
// was asked and answered, and how long ago that is by a clock that never jumps. A machine whose own clock is wrong does no
// harm with it.
//
// An answer that a network holds back for a second says what the clock was a second ago. Taken for the time at which the
// answer came, it set this clock back: a tick was followed by itself, and a wait that began then ended a second early. So
// an answer narrows what is known, and never widens it, unless it says that the database's clock was set.

import type { StoreClock } from '../../../ports.ts';

/** Milliseconds of the database's clock, as SQL. */
export const NOW_SQL = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/** NOW_SQL is rounded to the nearest millisecond. */
const ROUNDING_MS = 0.5;
/** By how much two clocks that are kept right run apart at most, of each millisecond. */
const DRIFT = 0.0005;

export class DatabaseClock implements StoreClock {
  readonly #stand: StoreClock | null;
  readonly #elapsedMs: () => number;
  /** The database's clock less `#elapsedMs`: at least, and at most; as of `#knownAt`. */
  #least: number;
  #most: number;
  #knownAt: number | null = null;

  /** `stand`: in tests, a clock that stands in for the database's. `elapsedMs`: never jumps. */
  constructor(stand: { nowMs(): number } | null, elapsedMs: () => number = () => performance.now()) {
    this.#stand = stand && { nowMs: () => stand.nowMs(), latestMs: () => stand.nowMs() };
    this.#elapsedMs = elapsedMs;
    this.#least = Date.now() - elapsedMs();
    this.#most = this.#least;
  }

  /** Never ahead of the database's clock. */
  nowMs(): number {
    return this.#stand ? this.#stand.nowMs() : Math.floor(this.#elapsedMs() + this.#least);
  }

  /** Never behind it. */
  latestMs(): number {
    return this.#stand ? this.#stand.latestMs() : Math.ceil(this.#elapsedMs() + this.#most);
  }

  /** The stand-in's time, or null: then statements ask the database themselves. */
  standMs(): number | null {
    return this.#stand?.nowMs() ?? null;
  }

  /** To be called before the database is asked for its time; the answer belongs to `heard`. */
  asks(): number {
    return this.#elapsedMs();
  }

  /** The database was asked at `askedAt`, and its answer has just come. Returns the time to go by. */
  heard(databaseMs: number, askedAt: number): number {
    if (this.#stand) return this.#stand.nowMs();
    const heardAt = this.#elapsedMs();
    const least = databaseMs - ROUNDING_MS - heardAt;
    const most = databaseMs + ROUNDING_MS - askedAt;
    const driftMs = this.#knownAt === null ? Number.POSITIVE_INFINITY : (heardAt - this.#knownAt) * DRIFT;
    const known = { least: this.#least - driftMs, most: this.#most + driftMs };
    const wasSet = least > known.most || most < known.least;
    this.#least = wasSet ? least : Math.max(least, known.least);
    this.#most = wasSet ? most : Math.min(most, known.most);
    this.#knownAt = heardAt;
    return databaseMs;
  }
}
