// The identity of this process among those that share the database. A node beats about every second; the others take one
// without a beat for LIMITS.nodeLeaseMs, by the database's clock, for gone, and rescue its leases. A process that was only
// paused finds out with its next transaction, and goes on as a new node: fences refuse the results of its old leases.

import { msOf, NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { LIMITS, MINUTE_MS } from '../../../domain/limits.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { number, numberOrNull } from '../../rows/cells.ts';
import { type DatabaseClock, NOW_SQL } from '../connection/clock.ts';
import type { Pool } from '../connection/pool.ts';
import type { Tx } from '../connection/transaction-connection.ts';

/** Numbers that one node can give within a millisecond; more run ahead of the clock. */
const PER_SLOT = NUMBERS_PER_MS / LIMITS.nodes;
/** At a start, nodes without a beat for so many leases are marked as gone. */
const SURELY_GONE = 10;
const RECENTLY_MS = 2 * MINUTE_MS;
const BEATS_BETWEEN_LOOKS = 10;
/** An answer that took longer means an outage, even without an error. */
const SLOW_BEAT_MS = LIMITS.nodeLeaseMs / 2;
const UNIQUE_VIOLATION = '23505';

/**
 * Numbers for rows, `milliseconds * 1024 + slot * 32 + sequence` by the database's clock: strictly growing at one node, unique
 * among living nodes. Numbers that two nodes give within a few milliseconds may be committed in the other order.
 *
 * A transaction that needs many numbers runs ahead of the clock (10,000 emissions with five listeners each: 2 s). It stores its
 * last number, and other nodes begin behind it: an emission that any node accepts after an answer has a higher number.
 */
export class Numbers {
  readonly #slot: number;
  readonly #firstMs: number;
  #last: number;
  #given = 0;

  /** `behind`: the largest number that any node has stored. */
  constructor(of: { slot: number; nowMs: number; last: number; behind: number }) {
    this.#slot = of.slot;
    this.#firstMs = Math.max(of.nowMs, Math.floor(of.behind / NUMBERS_PER_MS) + 1);
    this.#last = of.last;
  }

  next(): number {
    this.#last = Math.max(this.#firstMs * PER_SLOT, this.#last + 1);
    this.#given = Math.floor(this.#last / PER_SLOT) * NUMBERS_PER_MS + this.#slot * PER_SLOT + (this.#last % PER_SLOT);
    return this.#given;
  }

  /** Returns the last number that was given, if it is ahead of the clock. */
  aheadOf(nowMs: number): number | null {
    return msOf(this.#given) > nowMs ? this.#given : null;
  }

  /** Returns the `last` of the next transaction's numbers. */
  get last(): number {
    return this.#last;
  }
}

/**
 * The largest stored number. Each node stores its own row: under load most transactions are some milliseconds ahead, and none
 * should wait for another node's commit.
 */
export const LAST_NUMBER_SQL = `(SELECT max(value::bigint) FROM meta WHERE name LIKE 'last_number%')`;

const LAST_OF_ALL_SQL = `(SELECT greatest(
      (SELECT max(entry) FROM emissions), (SELECT max(run) FROM open_runs), (SELECT max(run) FROM runs),
      (SELECT max(delivery) FROM open_deliveries), (SELECT max(delivery) FROM deliveries), (SELECT max(entry) FROM dedupe),
      (SELECT max(entry) FROM later_emissions),
      ${LAST_NUMBER_SQL}))`;

/**
 * Stores the largest number of all rows. Called when the database's clock was set back: numbers that were not ahead of it are
 * now, and a node that gave none of them would give lower ones, which readers of the log have passed.
 */
export async function keepLastOfAll(tx: Tx): Promise<void> {
  await tx.query(
    `INSERT INTO meta (name, value) SELECT 'last_number', n::text FROM (SELECT ${LAST_OF_ALL_SQL} AS n) AS l WHERE n IS NOT NULL
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  );
}

export function keepLastNumber(tx: Tx, number: number, slot: number): void {
  void tx.query(
    `INSERT INTO meta AS m (name, value) VALUES ($1, $2::bigint::text)
      ON CONFLICT (name) DO UPDATE SET value = greatest(m.value::bigint, excluded.value::bigint)::text`,
    `last_number_${slot}`,
    number,
  );
}

export interface NodeOptions {
  readonly pool: Pool;
  readonly clock: DatabaseClock;
  readonly name: string;
  readonly version: string;
}

export class Node {
  readonly #options: NodeOptions;
  #id = 0;
  #slot = 0;
  #last = 0;
  #registering: Promise<void> | undefined;
  #cutOffAt: number | null = null;
  #beats = 0;
  /** The outcome of a commit is unknown: this process may have leases that it does not know. */
  mayHoldUnknown = false;

  constructor(options: NodeOptions) {
    this.#options = options;
  }

  /** Changes when this process was taken for gone. */
  get id(): number {
    return this.#id;
  }

  get slot(): number {
    return this.#slot;
  }

  numbers(nowMs: number, behind: number): Numbers {
    return new Numbers({ slot: this.#slot, nowMs, last: this.#last, behind });
  }

  /** Called when the transaction that gave these numbers has committed. */
  gave(numbers: Numbers): void {
    this.#last = Math.max(this.#last, numbers.last);
  }

  /** Takes an identity that no other process has. Throws `StoreUnavailable` when there are LIMITS.nodes others. */
  register(): Promise<void> {
    this.#registering ??= this.#register().finally(() => {
      this.#registering = undefined;
    });
    return this.#registering;
  }

  /** Beats. Returns false when this node was marked as gone: call `register` again. */
  async beat(): Promise<boolean> {
    const { pool, clock } = this.#options;
    const askedAt = clock.beginReading();
    try {
      const rows = await pool.write(
        `UPDATE nodes SET beat_at_ms = coalesce($2::bigint, ${NOW_SQL}) WHERE node = $1 AND gone_at_ms IS NULL
          RETURNING beat_at_ms`,
        this.#id,
        clock.overrideMs(),
      );
      if (rows[0]) clock.endReading(number(rows[0], 'beat_at_ms'), askedAt);
      this.#beats++;
      // A network or database that delayed this beat has delayed those of other nodes, too.
      if (performance.now() - askedAt > SLOW_BEAT_MS) this.#cutOffAt = performance.now();
      return rows.length === 1;
    } catch (error) {
      this.#cutOffAt = performance.now();
      throw error;
    }
  }

  /**
   * Returns whether for the time of a lease the database was reachable, and its clock not set forward: then a node without a beat
   * is gone, and not cut off, and leases have ended by the time that has passed.
   */
  get isSteady(): boolean {
    if (this.#options.clock.setForwardAgoMs <= LIMITS.nodeLeaseMs) return false;
    return this.#cutOffAt === null || performance.now() - this.#cutOffAt > LIMITS.nodeLeaseMs;
  }

  /** Returns the time before which a last beat is late; 0: no node is judged now. */
  lateBeforeMs(): number {
    return this.isSteady ? this.#options.clock.nowMs() - LIMITS.nodeLeaseMs : 0;
  }

  /** Returns whether to look for expired leases: some node is late, one has gone recently (its last writes may show late), or from time to time. */
  isRescueDue(isLate: boolean, lastGoneAtMs: number | null): boolean {
    const isRecent = lastGoneAtMs !== null && this.#options.clock.nowMs() - lastGoneAtMs < RECENTLY_MS;
    return isLate || isRecent || this.#beats % BEATS_BETWEEN_LOOKS === 0;
  }

  /** Marks this node as gone, so that the others need not wait for its lease to expire. */
  async leave(): Promise<void> {
    const { pool, clock } = this.#options;
    await pool.write(
      'UPDATE nodes SET gone_at_ms = $2::bigint WHERE node = $1 AND gone_at_ms IS NULL',
      this.#id,
      clock.nowMs(),
    );
  }

  async #register(): Promise<void> {
    const { pool, clock, name, version } = this.#options;
    const askedAt = clock.beginReading();
    const clockRow = await pool.get(`SELECT ${NOW_SQL} AS now_ms`);
    if (!clockRow) throw new StoreUnavailable('the database returned no time');
    const nowMs = clock.endReading(number(clockRow, 'now_ms'), askedAt);
    await pool.write(
      'UPDATE nodes SET gone_at_ms = $1::bigint WHERE gone_at_ms IS NULL AND beat_at_ms < $1::bigint - $2::bigint',
      nowMs,
      SURELY_GONE * LIMITS.nodeLeaseMs,
    );
    for (;;) {
      const made = await pool
        .write(
          `INSERT INTO nodes (slot, name, version, started_at_ms, beat_at_ms)
            SELECT s, $1::text, $2::text, $3::bigint, $3::bigint FROM generate_series(0, ${LIMITS.nodes - 1}) AS s
              WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE slot = s AND gone_at_ms IS NULL) ORDER BY s LIMIT 1
            RETURNING node, slot`,
          name,
          version,
          nowMs,
        )
        .catch((error: unknown) => {
          // Another node took the slot at the same time.
          if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return undefined;
          throw error;
        });
      if (made === undefined) continue;
      const row = made[0];
      if (!row)
        throw new StoreUnavailable(`this database has ${LIMITS.nodes} Errand processes already; stop one first`);
      this.#id = number(row, 'node');
      this.#slot = number(row, 'slot');
      this.#last = Math.max(this.#last, await this.#lastOfAll());
      return;
    }
  }

  /** Returns a sequence behind every number that was ever given, also when the database's clock was set back. */
  async #lastOfAll(): Promise<number> {
    const row = await this.#options.pool.get(`SELECT ${LAST_OF_ALL_SQL} AS last`);
    const last = row && numberOrNull(row, 'last');
    return last ? Math.floor(last / NUMBERS_PER_MS + 1) * PER_SLOT : 0;
  }
}
