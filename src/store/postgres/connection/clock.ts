// The database's clock as this node knows it: two bounds, from the times that the database returned, when each was requested and
// received, and the time since then by a clock that never jumps. So a wrong clock of this machine does no harm.
//
// An answer that the network delays by a second has the time of a second ago. Taken as the present time, it set this clock back:
// a tick was followed by itself, and a wait ended a second early. So an answer only narrows the bounds, unless it shows that the
// database's clock was set.

import { LIMITS } from '../../../domain/limits.ts';
import type { StoreClock } from '../../../ports.ts';

/** Milliseconds of the database's clock, as SQL. */
export const NOW_SQL = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`;

/** NOW_SQL is rounded to the nearest millisecond. */
const ROUNDING_MS = 0.5;
/** A clock that was set forward by more is known to have been: less comes of a network that stood still, too. */
const JUMP_MS = LIMITS.nodeLeaseMs / 2;
/** The most that two disciplined clocks drift apart, per millisecond. */
const DRIFT = 0.0005;

export class DatabaseClock implements StoreClock {
  readonly #override: StoreClock | null;
  readonly #elapsedMs: () => number;
  /** The bounds of the database's clock less `#elapsedMs`, as of `#knownAt`. */
  #least: number;
  #most: number;
  #knownAt: number | null = null;
  #setForwardAt: number | null = null;

  /** `override`: in tests, replaces the database's clock. `elapsedMs`: a clock that never jumps. */
  constructor(override: { nowMs(): number } | null, elapsedMs: () => number = () => performance.now()) {
    this.#override = override && { nowMs: () => override.nowMs(), latestMs: () => override.nowMs() };
    this.#elapsedMs = elapsedMs;
    this.#least = Date.now() - elapsedMs();
    this.#most = this.#least;
  }

  /** Returns a time that is never ahead of the database's clock. */
  nowMs(): number {
    return this.#override ? this.#override.nowMs() : Math.floor(this.#elapsedMs() + this.#least);
  }

  /** Returns a time that is never behind the database's clock. */
  latestMs(): number {
    return this.#override ? this.#override.latestMs() : Math.ceil(this.#elapsedMs() + this.#most);
  }

  /** Returns the time of the tests' clock; null: statements read the database's own. */
  overrideMs(): number | null {
    return this.#override?.nowMs() ?? null;
  }

  /** Returns how long ago the database's clock was seen to be set forward; infinite: it was not. */
  get setForwardAgoMs(): number {
    return this.#setForwardAt === null ? Number.POSITIVE_INFINITY : this.#elapsedMs() - this.#setForwardAt;
  }

  /** Called before the database's time is requested. Returns the `askedAt` of `endReading`. */
  beginReading(): number {
    return this.#elapsedMs();
  }

  /** Called with the database's time, right after it was received. Returns the present time. */
  endReading(databaseMs: number, askedAt: number): number {
    if (this.#override) return this.#override.nowMs();
    const heardAt = this.#elapsedMs();
    const least = databaseMs - ROUNDING_MS - heardAt;
    const most = databaseMs + ROUNDING_MS - askedAt;
    const driftMs = this.#knownAt === null ? Number.POSITIVE_INFINITY : (heardAt - this.#knownAt) * DRIFT;
    const known = { least: this.#least - driftMs, most: this.#most + driftMs };
    const wasSet = least > known.most || most < known.least;
    if (least - known.most > JUMP_MS) this.#setForwardAt = heardAt;
    this.#least = wasSet ? least : Math.max(least, known.least);
    this.#most = wasSet ? most : Math.min(most, known.most);
    this.#knownAt = heardAt;
    return databaseMs;
  }
}
