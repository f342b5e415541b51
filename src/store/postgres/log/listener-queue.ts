// The queue of a listener: how many of its runs or deliveries wait and are under way, and a webhook's health. The transaction
// that changes its row has locked it.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { HEALTHY, type WebhookHealth } from '../../../domain/delivery/health.ts';
import { isWaiting } from '../../../domain/delivery/progress.ts';
import type { Throttle } from '../../../domain/resource.ts';
import { nextStartMs, roomAt, type StartTimes } from '../../../domain/run/throttle.ts';
import type { LedgerChanges } from '../../log/ledger.ts';
import { number, numberIfRead, text, textOrNull } from '../../rows/cells.ts';
import { toHealth } from '../../rows/webhook-rows.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import { NEVER, settled, storedStartTimes, toStartTimes, withMore } from '../runs/start-times.ts';
import type { QueueNeed } from './batch-needs.ts';

export interface QueueRow {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly waiting: number;
  readonly taken: number;
  readonly holder: number | null;
  readonly keptUntilMs: number | null;
  readonly health: WebhookHealth;
  /** When the next row is due; 0 also when nothing waits. */
  readonly readyAtMs: number;
  /** For a throttled workflow: when its last runs began. */
  readonly starts: StartTimes;
}

interface DeliveriesMoved {
  readonly from: DeliveryState | null;
  readonly to: DeliveryState;
  readonly n?: number;
  /** Until when the queue stays with its node, once nothing is under way. */
  readonly keptUntilMs?: number | null;
}

const HOLDER_LIVES = 'EXISTS (SELECT 1 FROM nodes AS n WHERE n.node = l.holder AND n.gone_at_ms IS NULL)';

/** Columns of `listener_queues AS l` for `toQueueRow`. A node that is gone keeps no idle queue. */
export const QUEUE_COLUMNS = `l.owner_id, l.listener_id, l.waiting, l.taken,
  CASE WHEN l.taken > 0 OR l.holder IS NULL OR ${HOLDER_LIVES} THEN l.holder END AS holder, l.kept_until_ms,
  l.failing_since_ms, l.exhausted_in_row, l.noticed_at_ms, l.paused_until_ms, l.ready_at_ms, l.starts`;

/** Returns ListenerQueue.isFor as a condition on `listener_queues AS l`. */
export const isFor = (node: string, now: string): string =>
  `(l.holder = ${node} OR (l.taken <= 0 AND (l.holder IS NULL OR l.kept_until_ms IS NULL OR l.kept_until_ms <= ${now}
    OR NOT ${HOLDER_LIVES})))`;

export function toQueueRow(row: Row): QueueRow {
  return {
    ownerId: text(row, 'owner_id'),
    listenerId: text(row, 'listener_id'),
    waiting: number(row, 'waiting'),
    taken: number(row, 'taken'),
    holder: numberIfRead(row, 'holder'),
    keptUntilMs: numberIfRead(row, 'kept_until_ms'),
    health: toHealth(row),
    readyAtMs: numberIfRead(row, 'ready_at_ms') ?? 0,
    starts: toStartTimes(row.starts === undefined ? null : textOrNull(row, 'starts')),
  };
}

/** Locks these queues, in the order of their keys, if all of them have rows; else none. */
export async function lockQueues(tx: Tx, wanted: readonly Omit<QueueNeed, 'isRun'>[]): Promise<QueueRow[]> {
  const rows = await tx.query(
    `SELECT ${QUEUE_COLUMNS} FROM unnest($1::text[], $2::text[]) AS u (o, i)
      JOIN listener_queues AS l ON l.owner_id = u.o AND l.listener_id = u.i
      WHERE l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])
        AND (SELECT count(*) FROM unnest($1::text[], $2::text[]) AS g (o, i)
          JOIN listener_queues AS t ON t.owner_id = g.o AND t.listener_id = g.i
          WHERE t.owner_id = ANY($1::text[]) AND t.listener_id = ANY($2::text[])) = cardinality($1::text[])
      ORDER BY l.owner_id, l.listener_id FOR UPDATE OF l`,
    arrayLiteral(wanted.map((l) => l.ownerId)),
    arrayLiteral(wanted.map((l) => l.listenerId)),
  );
  return rows.map(toQueueRow);
}

/** The queue of a listener with the changes of its transaction. */
export class ListenerQueue {
  readonly ownerId: string;
  readonly listenerId: string;
  readonly isRun: boolean;
  waiting: number;
  taken: number;
  holder: number | null;
  /** The idle queue stays with its holder until then, because what its holder has sent counts against the rate limit. */
  keptUntilMs: number | null;
  /** How many of the waiting rows this transaction will claim. */
  granted = 0;
  isChanged = false;
  /** A count would have fallen below zero: it differs from the rows. */
  isWrong = false;
  /** Rows were added to those that `#readyAtMs` is of. */
  #hasMore = false;
  #readyAtMs: number;
  #starts: StartTimes;
  readonly #startsBefore: StartTimes;
  readonly #healthBefore: WebhookHealth;
  #health: WebhookHealth;

  constructor(row: QueueRow, isRun: boolean) {
    this.ownerId = row.ownerId;
    this.listenerId = row.listenerId;
    this.isRun = isRun;
    this.waiting = row.waiting;
    this.taken = row.taken;
    this.holder = row.holder;
    this.keptUntilMs = row.keptUntilMs;
    this.#healthBefore = row.health;
    this.#health = row.health;
    this.#readyAtMs = row.readyAtMs;
    this.#starts = row.starts;
    this.#startsBefore = row.starts;
  }

  static empty(ownerId: string, listenerId: string, isRun: boolean): ListenerQueue {
    const nothing = { waiting: 0, taken: 0, holder: null, keptUntilMs: null, readyAtMs: 0, starts: NEVER };
    return new ListenerQueue({ ownerId, listenerId, ...nothing, health: HEALTHY }, isRun);
  }

  change(by: { waiting?: number; taken?: number; keptUntilMs?: number | null }, node: number): void {
    const { waiting = 0, taken = 0, keptUntilMs = null } = by;
    this.#count(waiting, taken);
    // Only taking rows makes a node the holder, not adding rows that wait or rescuing the leases of another node.
    if (this.isRun || taken === 0) return;
    if (this.taken === 0) this.keep(keptUntilMs);
    else if (taken > 0) {
      this.holder = node;
      this.keptUntilMs = null;
    }
  }

  /** Counts deliveries that changed from one state to another, here and in the ledger; `from` null: they are new. */
  deliveriesMoved({ from, to, n = 1, keptUntilMs = null }: DeliveriesMoved, ledger: LedgerChanges, node: number): void {
    ledger.moved(this.ownerId, 'deliveries', { from, to, n });
    const waiting = n * (Number(isWaiting(to)) - Number(isWaiting(from)));
    const taken = n * (Number(to === 'sending') - Number(from === 'sending'));
    if (waiting !== 0 || taken !== 0) this.change({ waiting, taken, keptUntilMs }, node);
  }

  /** Changes the counts, but not below zero: no claim would take a queue with a negative count. */
  #count(waiting: number, taken: number): void {
    this.#hasMore ||= waiting > 0;
    this.isWrong ||= this.waiting + waiting < 0 || this.taken + taken < 0;
    this.waiting = Math.max(0, this.waiting + waiting);
    this.taken = Math.max(0, this.taken + taken);
    this.isChanged = true;
  }

  /** Sets the counts to those of the rows. A queue with nothing taken has no holder. */
  recount({ waiting, taken, holder }: Pick<QueueRow, 'waiting' | 'taken' | 'holder'>): void {
    this.waiting = waiting;
    this.taken = taken;
    if (!this.isRun) this.holder = taken > 0 ? (this.holder ?? holder) : null;
    this.isChanged = true;
  }

  /** Keeps the queue at its holder until `untilMs`; null: it has no holder. */
  keep(untilMs: number | null): void {
    if (untilMs === null) this.holder = null;
    this.keptUntilMs = untilMs;
    this.isChanged = true;
  }

  /** Returns whether the node may send to this listener: one node at a time keeps its order, its rate and its deliveries under way. */
  isFor(node: number, nowMs: number): boolean {
    if (this.holder === node) return true;
    return this.taken <= 0 && (this.holder === null || this.keptUntilMs === null || this.keptUntilMs <= nowMs);
  }

  /** Returns how many runs the throttle lets begin now. While there are none, the queue is not ready. */
  roomAt(throttle: Throttle | null, nowMs: number): number {
    this.#setStartTimes(throttle === null ? NEVER : settled(this.#starts, nowMs));
    const room = throttle === null ? Number.POSITIVE_INFINITY : roomAt(throttle, this.#starts, nowMs);
    const readyAtMs = throttle === null || room > 0 ? 0 : nextStartMs(throttle, this.#starts, nowMs);
    if (readyAtMs !== this.#readyAtMs) {
      this.#readyAtMs = readyAtMs;
      this.isChanged ||= this.waiting > 0;
    }
    return room;
  }

  /** Counts runs that begin now; `atMs`: the last of them. */
  began(throttle: Throttle | null, of: { count: number; atMs: number; nowMs: number }): void {
    if (throttle === null || of.count === 0) return;
    this.#setStartTimes(withMore(throttle, this.#starts, of));
    this.roomAt(throttle, of.nowMs);
  }

  #setStartTimes(starts: StartTimes): void {
    if (starts === this.#starts) return;
    this.#starts = starts;
    this.isChanged = true;
  }

  get readyAtMs(): number {
    return this.#readyAtMs;
  }

  get starts(): string | null {
    return storedStartTimes(this.#starts);
  }

  get areStartTimesChanged(): boolean {
    return this.#starts !== this.#startsBefore;
  }

  get health(): WebhookHealth {
    return this.#health;
  }

  set health(health: WebhookHealth) {
    if (health === this.#health) return;
    this.#health = health;
    // The time at which the queue is ready depends on its health.
    this.isChanged = true;
  }

  get isHealthChanged(): boolean {
    return this.#health !== this.#healthBefore;
  }

  /** Returns whether a row that waits is due; one that this transaction has added counts as due. */
  isSomeDue(nowMs: number): boolean {
    return this.waiting > 0 && (this.#hasMore || this.#readyAtMs <= nowMs);
  }

  isPaused(nowMs: number): boolean {
    return this.#health.pausedUntilMs !== null && this.#health.pausedUntilMs > nowMs;
  }
}

/** Selects the head of a listener's queue: the lowest number that waits. `only`: a condition on the listener. */
export const headOf = (columns: string, of: { owner: string; listener: string; only?: string }): string =>
  `SELECT ${columns} FROM open_deliveries AS d WHERE ${of.only ? `${of.only} AND ` : ''}d.owner_id = ${of.owner}
    AND d.listener_id = ${of.listener} AND d.state IN ('pending', 'retrying')
    ORDER BY d.owner_id, d.listener_id, d.delivery LIMIT 1`;

/** For `listener_queues AS l`: when its next delivery is due; for an ordered webhook that with the lowest number. */
const EARLIEST_DUE = `CASE WHEN (SELECT w.is_ordered FROM webhooks AS w WHERE w.id = l.listener_id)
  THEN (${headOf('d.due_at_ms', { owner: 'l.owner_id', listener: 'l.listener_id' })})
  ELSE least(
    (SELECT min(due_at_ms) FROM open_deliveries AS d
      WHERE d.owner_id = l.owner_id AND d.listener_id = l.listener_id AND d.state = 'pending'),
    (SELECT min(due_at_ms) FROM open_deliveries AS d
      WHERE d.owner_id = l.owner_id AND d.listener_id = l.listener_id AND d.state = 'retrying')) END`;

/** Writes queues. A queue of deliveries is ready when its next row is due and its webhook is not paused. */
export function sendQueues(tx: Tx, changed: readonly ListenerQueue[]): void {
  if (changed.length === 0) return;
  sendHealth(
    tx,
    changed.filter((queue) => queue.isHealthChanged),
  );
  sendStartTimes(
    tx,
    changed.filter((queue) => queue.areStartTimesChanged),
  );
  void tx.query(
    `UPDATE listener_queues AS l SET waiting = u.waiting, taken = u.taken, holder = u.holder, kept_until_ms = u.kept,
        ready_at_ms = CASE WHEN u.waiting = 0 THEN NULL WHEN l.is_run THEN u.ready
          ELSE greatest(l.paused_until_ms, ${EARLIEST_DUE}) END
      FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::bigint[], $6::bigint[],
        $7::bigint[]) AS u (o, i, waiting, taken, holder, kept, ready)
      WHERE l.owner_id = u.o AND l.listener_id = u.i AND l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])`,
    arrayLiteral(changed.map((l) => l.ownerId)),
    arrayLiteral(changed.map((l) => l.listenerId)),
    arrayLiteral(changed.map((l) => l.waiting)),
    arrayLiteral(changed.map((l) => l.taken)),
    arrayLiteral(changed.map((l) => l.holder)),
    arrayLiteral(changed.map((l) => l.keptUntilMs)),
    arrayLiteral(changed.map((l) => l.readyAtMs)),
  );
}

function sendStartTimes(tx: Tx, changed: readonly ListenerQueue[]): void {
  if (changed.length === 0) return;
  void tx.query(
    `UPDATE listener_queues AS l SET starts = u.starts FROM unnest($1::text[], $2::text[], $3::text[]) AS u (o, i, starts)
      WHERE l.owner_id = u.o AND l.listener_id = u.i AND l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])`,
    arrayLiteral(changed.map((l) => l.ownerId)),
    arrayLiteral(changed.map((l) => l.listenerId)),
    arrayLiteral(changed.map((l) => l.starts)),
  );
}

function sendHealth(tx: Tx, changed: readonly ListenerQueue[]): void {
  if (changed.length === 0) return;
  void tx.query(
    `UPDATE listener_queues AS l SET failing_since_ms = u.since, exhausted_in_row = u.exhausted, noticed_at_ms = u.noticed,
        paused_until_ms = u.paused
      FROM unnest($1::text[], $2::text[], $3::bigint[], $4::int[], $5::bigint[], $6::bigint[])
        AS u (o, i, since, exhausted, noticed, paused)
      WHERE l.owner_id = u.o AND l.listener_id = u.i AND l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])`,
    arrayLiteral(changed.map((l) => l.ownerId)),
    arrayLiteral(changed.map((l) => l.listenerId)),
    arrayLiteral(changed.map((l) => l.health.failingSinceMs)),
    arrayLiteral(changed.map((l) => l.health.exhaustedInRow)),
    arrayLiteral(changed.map((l) => l.health.noticedAtMs)),
    arrayLiteral(changed.map((l) => l.health.pausedUntilMs)),
  );
}
