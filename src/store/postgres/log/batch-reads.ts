// What a batch reads before it is planned, with one statement for each kind of row. See batch.ts.
//
// Rows are locked in this order, here and by all other writes (store/config/, claims/, runs/), so that nodes do not wait for each
// other in a circle; by key within each table:
//
//   operations, errors (emissions), new and expired idempotency keys, runs and deliveries under way, triggers, digests, queues of
//   listeners, versions of owners' configurations, owners and what they made, runs and deliveries that wait, answers in keys,
//   watches, groups of errors, ledger
//
// What waits for a listener is changed under the lock of its queue alone. Janitors skip what is locked. Postgres detects deadlocks
// that are left, and the transaction is tried again: the deletion of a workflow whose late emissions are just being released, and
// the purge of an owner that is still written to. Tests fail with more
// than a few deadlocks (test/support/postgres/fresh.ts).

import type { DeliveryLease } from '../../../domain/delivery/delivery.ts';
import type { Replay } from '../../../domain/errors/replay.ts';
import type { Dedupe } from '../../../domain/resource.ts';
import type { RunLease } from '../../../domain/run/run.ts';
import type { ReplayStep } from '../../contract/operations.ts';
import type { Idempotency, Tick } from '../../contract/store.ts';
import type { WatchDecision } from '../../contract/watches.ts';
import { readFallbacks } from '../../log/fallbacks.ts';
import type { DueFallback, LockedReplay } from '../../log/port.ts';
import { lockLastReplays } from '../../log/replays/last-replays.ts';
import { lockReplays } from '../../log/replays/replay-errors.ts';
import { takeTicks } from '../../log/ticks.ts';
import { readDecidable } from '../../log/watch/decisions.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { readExpired } from '../claims/expired-leases.ts';
import { LAST_NUMBER_SQL } from '../claims/node.ts';
import { runSteps } from '../config/config-database.ts';
import { NOW_SQL } from '../connection/clock.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import type { DigestNeed, EarlierTries, Needs, QueueNeed } from './batch-needs.ts';
import { leaseKey, Misses, pairKey, tickKey } from './batch-needs.ts';
import { lockDigests, readOverDigests, takeDueLater } from './due-rows.ts';
import type { Expected } from './expected-needs.ts';
import { takeKeys } from './idempotency-keys.ts';
import { lockQueues, type QueueRow } from './listener-queue.ts';

/** This node was taken for gone, and must not write: it registers again, and the transaction is repeated. */
export class NodeGone extends Error {}

/** The batch has locked digests or queues, and needs others: it is repeated, so that they are locked in the order of their keys. */
export class LockedTooFew extends Error {}

export class Reads {
  nowMs = 0;
  /** The highest number that ran ahead of the clock; 0: none. */
  lastNumber = 0;
  readonly versions = new Map<string, number>();
  /** Rows leased to this node, by leaseKey; those of `endings` are deleted already. */
  readonly endings = new Map<string, Row>();
  readonly returns = new Map<string, Row>();
  readonly attempts = new Map<string, Row>();
  /** Idempotency keys that this batch has inserted, and the rows of all keys. */
  readonly wonKeys = new Set<string>();
  readonly keys = new Map<string, Row>();
  /** Ticks that are to be emitted, by tickKey. */
  readonly firedTicks = new Set<string>();
  /** Locked operations that may make replays, by id. */
  readonly replays = new Map<string, LockedReplay>();
  /** What stands for errors that are locked, by entry. */
  readonly lastReplays = new Map<number, Replay>();
  /** Decisions about watches that count unless the watch changes meanwhile, by decisionKey. */
  readonly decisions = new Set<string>();
  readonly strategies = new Map<string, Dedupe | null>();
  readonly itemIds = new Map<string, string[]>();
  readonly queues = new Map<string, QueueRow>();
  readonly digests = new Map<string, Row>();
  overDigests: Row[] = [];
  /** These rows are deleted already. */
  dueLater: Row[] = [];
  fallbacks: readonly DueFallback[] = [];
  expiredRuns: Row[] = [];
  expiredDeliveries: Row[] = [];

  readonly #core: Core;
  readonly #tx: Tx;
  readonly #earlier: EarlierTries;
  /** Some queue that was expected has no row, so that none was locked early. */
  isShort = false;
  #missed = new Misses();

  constructor(core: Core, tx: Tx, earlier: EarlierTries) {
    this.#core = core;
    this.#tx = tx;
    this.#earlier = earlier;
  }

  get missed(): Misses {
    return this.#missed;
  }

  /** Reads, in one round trip, what the verbs have declared. What looks at the states of runs has round trips of its own before. */
  async first(needs: Needs, expected: Expected): Promise<void> {
    // A run that ends loses its row with the endings, and gets another one when the batch is written: in between it is in no
    // state at all, and an error that it replays would be replayed again.
    if (needs.replays.length > 0) await this.#readReplays(needs.replays);
    if (needs.retried.size > 0) await this.#readRetried(needs.retried);
    if (needs.fallbacks) await this.#readFallbacks();
    const owners = needs.owners.union(expected.owners);
    const clock = this.#readClockAndVersions(owners);
    await Promise.all([
      clock,
      this.#readKeys(needs.keys),
      this.#readEndings(needs.endings),
      this.#readReturns(needs.returns),
      this.#readAttempts(needs.attempts),
      this.#fire(needs.ticks),
      this.#decide([...needs.decisions.values()]),
      this.#readMemories(needs.memories),
      needs.overDigests && this.#readOverDigests(),
      needs.dueLater && this.#readDueLater(),
      needs.expired && this.#readExpired(),
      !this.#earlier.lockedTooFew && this.#lockEarly(expected, owners, clock),
    ]);
  }

  /**
   * Reads what the last plan missed. Queues come last, when all else is known, so that they are locked together, in the order
   * of their keys.
   */
  async more(): Promise<void> {
    const missed = this.#missed;
    this.#missed = new Misses();
    const isMissingOthers = missed.owners.size + missed.digests.size > 0 || !missed.routes.isEmpty;
    for (const [key, need] of missed.digests) this.#earlier.digests.set(key, need);
    for (const [key, need] of missed.queues) this.#earlier.queues.set(key, need);
    const areDigestsLate = missed.digests.size > 0 && this.digests.size > 0;
    const areBothLate = missed.digests.size + missed.queues.size > 0 && this.queues.size > 0;
    if (areDigestsLate || areBothLate) throw new LockedTooFew('the batch needs others than it has locked');
    if (!isMissingOthers) return this.#readQueues();
    await Promise.all([
      missed.owners.size > 0 && this.#readClockAndVersions(missed.owners),
      this.#core.routes.read(this.#tx, missed.routes),
      missed.digests.size > 0 && this.#readDigests(this.#digestsOfEarlierTries()),
    ]);
  }

  async #readClockAndVersions(owners: ReadonlySet<string>): Promise<void> {
    const { node, clock } = this.#core;
    const rows = await this.#tx.query(
      `SELECT ${NOW_SQL} AS now_ms, (SELECT gone_at_ms IS NULL FROM nodes WHERE node = $1) AS is_alive,
        ${LAST_NUMBER_SQL} AS last_number,
        (SELECT string_agg(owner_id || ' ' || version, ',') FROM versions WHERE owner_id = ANY($2::text[])) AS versions`,
      node.id,
      arrayLiteral([...owners]),
    );
    const [row] = rows;
    if (row?.is_alive !== true) throw new NodeGone('this node was taken for gone');
    if (this.nowMs === 0) this.nowMs = clock.endReading(number(row, 'now_ms'), this.#tx.beganAt);
    this.lastNumber = numberOrNull(row, 'last_number') ?? 0;
    for (const ownerId of owners) this.versions.set(ownerId, 0);
    for (const pair of (textOrNull(row, 'versions') ?? '').split(',')) {
      const [ownerId, version] = pair.split(' ') as [string, string | undefined];
      if (version !== undefined) this.versions.set(ownerId, Number(version));
    }
  }

  async #readKeys(keys: ReadonlyMap<string, Idempotency>): Promise<void> {
    if (keys.size === 0) return;
    const { won, rows } = await takeKeys(this.#tx, [...keys.values()], this.#core.clock.nowMs());
    for (const row of won) this.wonKeys.add(pairKey(text(row, 'trigger_id'), text(row, 'key')));
    for (const row of rows) this.keys.set(pairKey(text(row, 'trigger_id'), text(row, 'key')), row);
  }

  async #readEndings(leases: readonly RunLease[]): Promise<void> {
    if (leases.length === 0) return;
    const rows = await this.#tx.query(
      `DELETE FROM open_runs USING (SELECT o.run FROM unnest($1::bigint[], $2::int[]) AS u (run, fence)
          JOIN open_runs AS o ON o.run = u.run AND o.fence = u.fence AND o.state = 'running'
          WHERE o.run = ANY($1::bigint[]) ORDER BY o.run FOR UPDATE OF o) AS held
        WHERE open_runs.run = held.run AND open_runs.run = ANY($1::bigint[])
        RETURNING open_runs.run, fence, owner_id, runnable_id, deployment_id, entry, via, subscription_id, attempt,
          started_at_ms, awaited_by`,
      arrayLiteral(leases.map(({ run }) => run)),
      arrayLiteral(leases.map(({ fence }) => fence)),
    );
    for (const row of rows) this.endings.set(leaseKey(number(row, 'run'), number(row, 'fence')), row);
  }

  async #readReturns(leases: readonly RunLease[]): Promise<void> {
    if (leases.length === 0) return;
    const rows = await this.#tx.query(
      `SELECT o.run, o.fence, o.owner_id, o.runnable_id, o.deployment_id, o.entry, o.via, o.subscription_id, o.attempt,
          o.alone, o.rescues, o.started_at_ms, o.awaited_by, o.cancel_asked, o.waits, o.early
        FROM unnest($1::bigint[], $2::int[]) AS u (run, fence)
        JOIN open_runs AS o ON o.run = u.run AND o.fence = u.fence AND o.state = 'running'
        WHERE o.run = ANY($1::bigint[]) ORDER BY o.run FOR UPDATE OF o`,
      arrayLiteral(leases.map(({ run }) => run)),
      arrayLiteral(leases.map(({ fence }) => fence)),
    );
    for (const row of rows) this.returns.set(leaseKey(number(row, 'run'), number(row, 'fence')), row);
  }

  async #readAttempts(leases: readonly DeliveryLease[]): Promise<void> {
    if (leases.length === 0) return;
    const rows = await this.#tx.query(
      `SELECT o.* FROM unnest($1::bigint[], $2::int[]) AS u (delivery, fence)
        JOIN open_deliveries AS o ON o.delivery = u.delivery AND o.fence = u.fence AND o.state = 'sending'
        WHERE o.delivery = ANY($1::bigint[]) ORDER BY o.delivery FOR UPDATE OF o`,
      arrayLiteral(leases.map(({ delivery }) => delivery)),
      arrayLiteral(leases.map(({ fence }) => fence)),
    );
    for (const row of rows) this.attempts.set(leaseKey(number(row, 'delivery'), number(row, 'fence')), row);
  }

  async #fire(ticks: readonly Tick[]): Promise<void> {
    if (ticks.length === 0) return;
    // In one order at all nodes; an update locks in that of its plan.
    void this.#tx.query(
      'SELECT 1 FROM triggers WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE',
      arrayLiteral(ticks.map(({ triggerId }) => triggerId)),
    );
    const fired = await runSteps(this.#tx, takeTicks(ticks));
    for (const { triggerId, expectedAtMs } of fired) this.firedTicks.add(tickKey(triggerId, expectedAtMs));
  }

  async #readReplays(steps: readonly ReplayStep[]): Promise<void> {
    for (const locked of await runSteps(this.#tx, lockReplays(steps))) this.replays.set(locked.id, locked);
  }

  async #readRetried(retried: Needs['retried']): Promise<void> {
    for (const [ownerId, errors] of retried) {
      const lastReplays = await runSteps(this.#tx, lockLastReplays(ownerId, errors));
      for (const [entry, replay] of lastReplays) this.lastReplays.set(entry, replay);
    }
  }

  async #decide(decisions: readonly WatchDecision[]): Promise<void> {
    if (decisions.length === 0) return;
    for (const key of await runSteps(this.#tx, readDecidable(decisions))) {
      if (!this.#earlier.lostDecisions.has(key)) this.decisions.add(key);
    }
  }

  /** Reads what sources remember. A source runs once at a time, so no other transaction changes which ids it has seen. */
  async #readMemories(runnables: ReadonlySet<string>): Promise<void> {
    if (runnables.size === 0) return;
    const ids = arrayLiteral([...runnables]);
    const [strategies, items] = await Promise.all([
      this.#tx.query('SELECT id, dedupe FROM runnables WHERE id = ANY($1::text[])', ids),
      this.#tx.query('SELECT source_id, item_id FROM dedupe WHERE source_id = ANY($1::text[]) ORDER BY entry', ids),
    ]);
    for (const id of runnables) this.itemIds.set(id, []);
    for (const row of strategies) this.strategies.set(text(row, 'id'), textOrNull<Dedupe>(row, 'dedupe'));
    for (const row of items) this.itemIds.get(text(row, 'source_id'))?.push(text(row, 'item_id'));
  }

  async #readOverDigests(): Promise<void> {
    this.overDigests = await readOverDigests(this.#tx, this.#core.clock.nowMs());
    for (const row of this.overDigests) this.#missed.owners.add(text(row, 'digest_owner'));
  }

  async #readDueLater(): Promise<void> {
    this.dueLater = await takeDueLater(this.#tx, this.#core.clock.nowMs());
    for (const row of this.dueLater) this.#missed.owners.add(text(row, 'owner_id'));
  }

  async #readFallbacks(): Promise<void> {
    this.fallbacks = await runSteps(this.#tx, readFallbacks(this.#core.clock.nowMs(), this.#core));
    for (const { emission } of this.fallbacks) this.#missed.owners.add(emission.ownerId);
  }

  async #readExpired(): Promise<void> {
    const expired = await readExpired(this.#core, this.#tx);
    this.expiredRuns = expired.runs;
    this.expiredDeliveries = expired.deliveries;
    for (const row of [...expired.runs, ...expired.deliveries]) this.#missed.owners.add(text(row, 'owner_id'));
  }

  async #readDigests(needs: readonly DigestNeed[]): Promise<void> {
    if (needs.length === 0) return;
    // The exact time counts for none of these rows: what opens a window writes its times.
    const rows = await lockDigests(this.#tx, needs, this.nowMs || this.#core.clock.nowMs());
    for (const row of rows) this.digests.set(pairKey(text(row, 'owner_id'), text(row, 'digest_key')), row);
  }

  /** Returns the digests that this try or an earlier one has needed, and that are not locked. */
  #digestsOfEarlierTries(): DigestNeed[] {
    return [...this.#earlier.digests].filter(([key]) => !this.digests.has(key)).map(([, need]) => need);
  }

  /**
   * Locks queues. A change or deletion of a listener locks its queue too, so from here on none happens; earlier changes show in
   * the versions, which are read again after the lock.
   */
  async #readQueues(): Promise<void> {
    const wanted = [...this.#earlier.queues].filter(([key]) => !this.queues.has(key)).map(([, need]) => need);
    const versions = [...this.versions.keys()];
    const digests = this.#readDigests(this.#digestsOfEarlierTries());
    const [locked] = await Promise.all([this.#lock(wanted), this.#readVersions(versions), digests]);
    if (locked === wanted.length) return;
    // A listener without a row yet: one transaction inserts it, and all lock it. Until then none is locked, or those that other
    // transactions insert meanwhile would be locked behind them, out of order.
    void this.#tx.query(
      `INSERT INTO listener_queues (owner_id, listener_id, is_run, waiting, taken)
        SELECT o, i, r, 0, 0 FROM unnest($1::text[], $2::text[], $3::boolean[]) AS u (o, i, r) ORDER BY o, i
        ON CONFLICT DO NOTHING`,
      arrayLiteral(wanted.map((l) => l.ownerId)),
      arrayLiteral(wanted.map((l) => l.listenerId)),
      arrayLiteral(wanted.map((l) => l.isRun)),
    );
    await Promise.all([this.#lock(wanted), this.#readVersions(versions)]);
  }

  /** Locks digests and queues with the first reads. Versions are read behind the locks, as with queues that come last. */
  async #lockEarly(expected: Expected, owners: ReadonlySet<string>, clock: Promise<void>): Promise<void> {
    const wanted = [...expected.queues.values()];
    if (wanted.length === 0) return;
    const digests = this.#readDigests([...expected.digests.values()]);
    const [locked] = await Promise.all([this.#lock(wanted), this.#readVersions([...owners], clock), digests]);
    this.isShort = locked === 0;
  }

  async #lock(wanted: readonly QueueNeed[]): Promise<number> {
    const rows = await lockQueues(this.#tx, wanted);
    for (const queue of rows) this.queues.set(pairKey(queue.ownerId, queue.listenerId), queue);
    return rows.length;
  }

  /** Reads versions again. `after`: earlier reads of them, whose answers must not replace these. */
  async #readVersions(owners: readonly string[], after?: Promise<void>): Promise<void> {
    const rows = await this.#tx.query(
      'SELECT owner_id, version FROM versions WHERE owner_id = ANY($1::text[])',
      arrayLiteral(owners),
    );
    await after;
    for (const row of rows) this.versions.set(text(row, 'owner_id'), number(row, 'version'));
  }
}
