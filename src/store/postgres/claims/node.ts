// Who this process is among those that share the database. A node says every second or so that it lives (its beat); one
// that does not for LIMITS.nodeLeaseMs, by the database's clock, is gone for the others, who take over what it held. A
// process that was only paused finds that out with its next transaction, and goes on as a new node: what it held under
// its old name is refused by the fences.

import { msOf, NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { LIMITS, MINUTE_MS } from '../../../domain/limits.ts';
import { StoreUnavailable } from '../../contract/store.ts';
import { number, numberOrNull } from '../../rows/cells.ts';
import { type DatabaseClock, NOW_SQL } from '../connection/clock.ts';
import type { Pool } from '../connection/pool.ts';
import type { Tx } from '../connection/transaction-connection.ts';

/** Numbers that one node can give within a millisecond; more push its clock ahead. */
const PER_SLOT = NUMBERS_PER_MS / LIMITS.nodes;
/** At a start, what has not beaten for so many leases is surely gone, whatever the others have judged. */
const SURELY_GONE = 10;
const RECENTLY_MS = 2 * MINUTE_MS;
const BEATS_BETWEEN_LOOKS = 10;
/** An answer that took longer tells of an outage that no error reports. */
const SLOW_BEAT_MS = LIMITS.nodeLeaseMs / 2;
const UNIQUE_VIOLATION = '23505';

/**
 * Numbers for rows, `milliseconds * 1024 + slot * 32 + sequence`: strictly growing at one node, unique among the living
 * ones, by the database's clock. Numbers given by two nodes within a few milliseconds may be committed the other way round.
 *
 * A transaction that needs many runs ahead of the clock (10,000 emissions with five listeners each: 2 s). It leaves word
 * of that, and other nodes begin behind it: what is accepted after an answer is numbered behind it, wherever.
 */
export class Numbers {
  readonly #slot: number;
  readonly #firstMs: number;
  #last: number;
  #given = 0;

  /** `behind`: the largest number that any node has left word of. */
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

  /** The last one that was given, if the clock is not there yet. */
  aheadOf(nowMs: number): number | null {
    return msOf(this.#given) > nowMs ? this.#given : null;
  }

  /** To begin the next transaction's numbers with. */
  get last(): number {
    return this.#last;
  }
}

/**
 * What a node has left word of is in a row of its own: under load most transactions are some milliseconds ahead, and none
 * waits for another node's commit with it.
 */
export const LAST_NUMBER_SQL = `(SELECT max(value::bigint) FROM meta WHERE name LIKE 'last_number%')`;

export function keepLastNumber(tx: Tx, number: number, slot: number | null = null): void {
  void tx.query(
    `INSERT INTO meta AS m (name, value) VALUES ($1, $2::bigint::text)
      ON CONFLICT (name) DO UPDATE SET value = greatest(m.value::bigint, excluded.value::bigint)::text`,
    slot === null ? 'last_number' : `last_number_${slot}`,
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
  /** A commit's outcome is unknown: this process may have leases that it does not know of. */
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

  /** The transaction that gave these numbers has committed. */
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

  /** False: the others think that this node is gone; call `register` again. */
  async beat(): Promise<boolean> {
    const { pool, clock } = this.#options;
    const askedAt = clock.asks();
    try {
      const rows = await pool.write(
        `UPDATE nodes SET beat_at_ms = coalesce($2::bigint, ${NOW_SQL}) WHERE node = $1 AND gone_at_ms IS NULL
          RETURNING beat_at_ms`,
        this.#id,
        clock.standMs(),
      );
      if (rows[0]) clock.heard(number(rows[0], 'beat_at_ms'), askedAt);
      this.#beats++;
      // A network or a database that held up this beat has held up those of the others.
      if (performance.now() - askedAt > SLOW_BEAT_MS) this.#cutOffAt = performance.now();
      return rows.length === 1;
    } catch (error) {
      this.#cutOffAt = performance.now();
      throw error;
    }
  }

  /** The database was there for the time of a lease: who has not beaten meanwhile is gone, and not just cut off as we were. */
  get isSteady(): boolean {
    return this.#cutOffAt === null || performance.now() - this.#cutOffAt > LIMITS.nodeLeaseMs;
  }

  /** Nodes whose last beat is older are late; 0: no node is judged now. */
  lateBeforeMs(): number {
    return this.isSteady ? this.#options.clock.nowMs() - LIMITS.nodeLeaseMs : 0;
  }

  /** After a node has gone, what it was just writing may show a little later; and stuck code is looked for now and then. */
  isRescueDue(isLate: boolean, lastGoneAtMs: number | null): boolean {
    const isRecent = lastGoneAtMs !== null && this.#options.clock.nowMs() - lastGoneAtMs < RECENTLY_MS;
    return isLate || isRecent || this.#beats % BEATS_BETWEEN_LOOKS === 0;
  }

  /** Marks this node as gone at once: the others need not wait for its lease to expire. */
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
    const askedAt = clock.asks();
    const told = await pool.get(`SELECT ${NOW_SQL} AS now_ms`);
    if (!told) throw new StoreUnavailable('the database did not say its time');
    const nowMs = clock.heard(number(told, 'now_ms'), askedAt);
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

  /** Behind every number that was ever given, also when the database's clock was set back. */
  async #lastOfAll(): Promise<number> {
    const row = await this.#options.pool.get(`SELECT greatest(
      (SELECT max(entry) FROM emissions), (SELECT max(run) FROM open_runs), (SELECT max(run) FROM runs),
      (SELECT max(delivery) FROM open_deliveries), (SELECT max(delivery) FROM deliveries), (SELECT max(entry) FROM dedupe),
      (SELECT max(entry) FROM later_emissions),
      ${LAST_NUMBER_SQL}) AS last`);
    const last = row && numberOrNull(row, 'last');
    return last ? Math.floor(last / NUMBERS_PER_MS + 1) * PER_SLOT : 0;
  }
}
