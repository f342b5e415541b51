// Plans the verbs of a batch in memory, one after the other, each on the changes of the ones before it. See batch.ts. A plan
// that misses something is dropped as a whole.

import type { Replay } from '../../../domain/errors/replay.ts';
import type { Owner, Runnable, Subscription, Webhook } from '../../../domain/resource.ts';
import type { ReplayStep } from '../../contract/operations.ts';
import type { FreeSlots } from '../../contract/store.ts';
import type { WatchDecision } from '../../contract/watches.ts';
import { GroupCaptures } from '../../log/groups/error-groups.ts';
import { toGroupNotices } from '../../log/groups/group-notices.ts';
import { LedgerChanges, type WorkKind } from '../../log/ledger.ts';
import type { ClaimsSoFar, DueFallback, FallbackDecision, LockedReplay, NewRun, ReplaysMade } from '../../log/port.ts';
import { type LastReplay, lastReplaysAmong, type OfRun } from '../../log/replays/last-replays.ts';
import { errorsOf } from '../../log/replays/replay-errors.ts';
import { decisionKey } from '../../log/watch/decisions.ts';
import { WatchNotes } from '../../log/watch/notes.ts';
import { flag, number } from '../../rows/cells.ts';
import type { Numbers } from '../claims/node.ts';
import type { NotifyChannel } from '../connection/notify.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { pairKey } from './batch-needs.ts';
import type { Reads } from './batch-reads.ts';
import type { PlannedDigest } from './due-rows.ts';
import { Seen } from './expected-needs.ts';
import { ListenerQueue, sendQueues } from './listener-queue.ts';
import type { OwnerRoutes } from './routes.ts';
import { RowChanges } from './row-changes.ts';

/** A verb that claims: the slots that it takes, and what it has claimed so far. */
interface Claimer {
  readonly admission: FreeSlots;
  readonly claims: ClaimsSoFar;
}

/** Rows to claim for a verb, once the plan is whole. */
export interface PlannedClaim {
  readonly queue: ListenerQueue;
  readonly claimer: Claimer;
  readonly count: number;
  /** Null for deliveries. */
  readonly runnable: Runnable | null;
}

export class BatchPlanner {
  readonly core: Core;
  readonly reads: Reads;
  readonly changes = new RowChanges();
  readonly ledger = new LedgerChanges();
  readonly captures: GroupCaptures;
  readonly watchNotes = new WatchNotes();
  readonly decisions: WatchDecision[] = [];
  readonly numbers: Numbers;
  readonly replaysMade: ReplaysMade[] = [];
  /** Runs of this batch, by operations and by hand, of events that had failed. */
  readonly reruns: Pick<NewRun, 'run' | 'state' | 'emission'>[] = [];
  readonly grants: PlannedClaim[] = [];
  /** The queues of webhooks that this batch disables, by webhook: what waits for them is held. */
  readonly goneWebhooks = new Map<string, ListenerQueue>();
  /** Queues to which a delivery was returned: they differ from the rows until the rows are written. */
  readonly wentBack = new Set<ListenerQueue>();
  readonly digests = new Map<string, PlannedDigest & { ownerId: string; digestKey: string }>();
  /** Ids that sources forget and remember, by source. */
  readonly memories = new Map<string, { readonly removed: Set<string>; readonly added: Map<string, number> }>();
  /** Idempotency keys first used in this batch, with their results. */
  readonly firsts = new Map<string, { entry: number; run: number | null; requestHash: string }>();
  /** Topics that other nodes are notified of after the commit. */
  readonly notified = new Set<NotifyChannel>();
  /** The claims of each verb. */
  readonly claims: ClaimsSoFar[] = [];
  readonly #queues = new Map<string, ListenerQueue>();
  /**
   * Rows that a verb of this batch has handled; later verbs skip them. Runs and deliveries are kept by number: a row that ends
   * here may also have been read as expired, and leaves its state once.
   */
  readonly #dealtWith = new Set<Row | string>();
  readonly #taken: (() => void)[] = [];
  readonly #unused: (() => void)[] = [];
  /** False once something was missed. A plan that will be dropped takes no slots. */
  isWhole = true;
  readonly fallbacks: FallbackDecision[] = [];
  /** A notice of a group, or a look at a fallback, is due once the batch is committed. */
  isNoticeDue = false;
  /** What the verb that is planned needs. */
  seen = new Seen();

  constructor(core: Core, reads: Reads) {
    this.core = core;
    this.reads = reads;
    this.captures = new GroupCaptures(core.fullEmitters);
    this.numbers = core.node.numbers(reads.nowMs, reads.lastNumber);
  }

  get nowMs(): number {
    return this.reads.nowMs;
  }

  queue(ownerId: string, listenerId: string, isRun: boolean): ListenerQueue {
    const key = pairKey(ownerId, listenerId);
    this.seen.queues.set(key, { ownerId, listenerId, isRun });
    const known = this.#queues.get(key);
    if (known) return known;
    const row = this.reads.queues.get(key);
    if (!row) {
      this.isWhole = false;
      this.reads.missed.queues.set(key, { ownerId, listenerId, isRun });
    }
    const queue = row ? new ListenerQueue(row, isRun) : ListenerQueue.empty(ownerId, listenerId, isRun);
    this.#queues.set(key, queue);
    return queue;
  }

  /** Returns whether this tick is to be emitted; true once. */
  fires(tick: string): boolean {
    if (!this.reads.firedTicks.has(tick) || this.#dealtWith.has(tick)) return false;
    this.#dealtWith.add(tick);
    return true;
  }

  /** Returns an operation that may make replays; once. */
  takeReplay(step: ReplayStep): LockedReplay | undefined {
    const key = `replay ${step.operationId}`;
    const locked = this.#dealtWith.has(key) ? undefined : this.reads.replays.get(step.operationId);
    this.#dealtWith.add(key);
    if (!locked) return undefined;
    const made = this.#replaysInBatch(locked.ownerId, errorsOf([step]));
    return { ...locked, lastReplays: new Map([...locked.lastReplays, ...made]) };
  }

  /** Returns the replays that stand for errors which this batch has locked. */
  lastReplaysOf(ownerId: string, errors: readonly OfRun[]): ReadonlyMap<number, Replay> {
    return new Map([...this.reads.lastReplays, ...this.#replaysInBatch(ownerId, errors)]);
  }

  #replaysInBatch(of: string, errors: readonly OfRun[]): ReadonlyMap<number, LastReplay> {
    const reruns = this.reruns.flatMap(({ run, state, emission: { ownerId, causeRun, summary } }) => {
      if (ownerId !== of || causeRun === null || summary === null) return [];
      const { id = null } = this.replaysMade.find(({ results }) => results.some((one) => one.run === run)) ?? {};
      return [{ causeRun, summary, run, state, operationId: id, failedGroup: null, errorEntry: null }];
    });
    return lastReplaysAmong(reruns, errors);
  }

  /** Returns whether this decision about a watch is to be written; true once. */
  decides(decision: WatchDecision): boolean {
    const key = decisionKey(decision);
    if (!this.reads.decisions.has(key) || this.#dealtWith.has(key)) return false;
    this.#dealtWith.add(key);
    this.decisions.push(decision);
    return true;
  }

  /** Returns the row of a lease that this node still has; once. */
  leased(kind: 'endings' | 'returns' | 'attempts', key: string): Row | undefined {
    const row = this.reads[kind].get(key);
    return row && this.#first([row], kind === 'attempts' ? deliveryOf : runOf)[0];
  }

  /** Returns rows with expired leases that no earlier verb has handled. */
  expired(kind: WorkKind): Row[] {
    return kind === 'runs'
      ? this.#first(this.reads.expiredRuns, runOf)
      : this.#first(this.reads.expiredDeliveries, deliveryOf);
  }

  /** Returns errors that may go to the global error workflow; once. */
  takeFallbacks(): readonly DueFallback[] {
    const left = this.reads.fallbacks.filter((one) => !this.#dealtWith.has(`fallback ${one.emission.entry}`));
    for (const one of left) this.#dealtWith.add(`fallback ${one.emission.entry}`);
    return left;
  }

  due(kind: 'overDigests' | 'dueLater'): Row[] {
    return this.#first(this.reads[kind], (row) => row);
  }

  #first(rows: readonly Row[], keyOf: (row: Row) => Row | string): Row[] {
    const left = rows.filter((row) => !this.#dealtWith.has(keyOf(row)));
    for (const row of left) this.#dealtWith.add(keyOf(row));
    return left;
  }

  takeRun({ admission }: Claimer, runnable: Runnable, besideHooks = false): boolean {
    if (!this.isWhole) return true;
    if (!admission.takeRun(runnable, besideHooks)) return false;
    this.#taken.push(() => admission.dropRun(runnable.id));
    return true;
  }

  /** Takes a slot for a delivery. `webhook` is null for the owner's mail. */
  takeDelivery({ admission }: Claimer, listenerId: string, webhook: Webhook | null): boolean {
    if (!this.isWhole) return true;
    if (!admission.takeDelivery(listenerId, webhook)) return false;
    this.#taken.push(() => admission.dropDelivery(listenerId));
    return true;
  }

  /** Claims the next row of the queue once the plan is whole. Its slot is already taken. */
  grant(queue: ListenerQueue, claimer: Claimer, runnable: Runnable | null): void {
    queue.granted++;
    this.grants.push({ queue, claimer, count: 1, runnable });
  }

  /** Gives all slots back: the plan was dropped, or its transaction failed. */
  undo(): void {
    for (const drop of this.#taken.splice(0)) drop();
    this.#unused.length = 0;
  }

  /** Gives slots back for which no row was found, after the commit. */
  leaveUnused({ admission }: Claimer, queue: ListenerQueue, count: number): void {
    const drop = (): void =>
      queue.isRun ? admission.dropRun(queue.listenerId) : admission.dropDelivery(queue.listenerId);
    for (let i = 0; i < count; i++) this.#unused.push(drop);
  }

  /** Called after the commit: keeps the slots taken, and gives the unused ones back. */
  settle(): void {
    this.#taken.length = 0;
    for (const drop of this.#unused.splice(0)) drop();
  }

  digest(need: { ownerId: string; digestKey: string; windowMs: number }): PlannedDigest | undefined {
    const key = pairKey(need.ownerId, need.digestKey);
    this.seen.digestWindowMs = need.windowMs;
    const known = this.digests.get(key);
    if (known) return known;
    const row = this.reads.digests.get(key);
    if (!row || row.window_ms !== need.windowMs) {
      this.isWhole = false;
      this.reads.missed.digests.set(key, need);
      return undefined;
    }
    const digest = {
      ownerId: need.ownerId,
      digestKey: need.digestKey,
      openedAtMs: number(row, 'opened_at_ms'),
      closesAtMs: number(row, 'closes_at_ms'),
      repeats: number(row, 'repeats'),
      newestEntry: 0,
      // One that this batch has ended counts no more.
      isNew: flag(row, 'is_new') || this.changes.endedDigests.has(key),
      isChanged: false,
      group: toGroupNotices(row),
    };
    this.digests.set(key, digest);
    return digest;
  }

  owner(ownerId: string): Owner | undefined {
    const routes = this.#routesOf(ownerId);
    if (!routes) return undefined;
    if (!routes.owner) this.#miss(() => this.reads.missed.routes.owners.add(routes));
    return routes.owner;
  }

  runnable(ownerId: string, id: string): Runnable | undefined {
    const routes = this.#routesOf(ownerId);
    const found = routes?.runnables.get(id);
    if (routes && found === undefined) this.#miss(() => this.reads.missed.routes.runnables.push([routes, id]));
    return found ?? undefined;
  }

  webhook(ownerId: string, id: string): Webhook | undefined {
    const routes = this.#routesOf(ownerId);
    const found = routes?.webhooks.get(id);
    if (routes && found === undefined) this.#miss(() => this.reads.missed.routes.webhooks.push([routes, id]));
    if (found?.active && this.goneWebhooks.has(id)) return { ...found, active: false };
    return found ?? undefined;
  }

  subscriptionsTo(ownerId: string, emitterId: string): readonly Subscription[] {
    const routes = this.#routesOf(ownerId);
    const found = routes?.subscriptions.get(emitterId);
    if (routes && !found) this.#miss(() => this.reads.missed.routes.emitters.push([routes, emitterId]));
    return found ?? [];
  }

  /** Returns whether some queue counts less than its rows. */
  get isCounterWrong(): boolean {
    return [...this.#queues.values()].some((queue) => queue.isWrong);
  }

  /** Sends the changed queues, after all rows: they determine when a queue is ready. */
  sendQueues(tx: Tx): void {
    sendQueues(
      tx,
      [...this.#queues.values()].filter((queue) => queue.isChanged),
    );
  }

  /** Sends the changes of what sources remember. */
  sendMemory(tx: Tx): void {
    for (const [sourceId, { removed, added }] of this.memories) {
      if (removed.size > 0) {
        void tx.query(
          'DELETE FROM dedupe WHERE source_id = $1 AND item_id = ANY($2::text[])',
          sourceId,
          arrayLiteral([...removed]),
        );
      }
      if (added.size === 0) continue;
      void tx.query(
        'INSERT INTO dedupe (source_id, item_id, entry) SELECT $1::text, i, e FROM unnest($2::text[], $3::bigint[]) AS u (i, e)',
        sourceId,
        arrayLiteral([...added.keys()]),
        arrayLiteral([...added.values()]),
      );
    }
  }

  #miss(note: () => void): void {
    this.isWhole = false;
    note();
  }

  #routesOf(ownerId: string): OwnerRoutes | undefined {
    this.seen.owners.add(ownerId);
    const version = this.reads.versions.get(ownerId);
    if (version !== undefined) return this.core.routes.of(ownerId, version);
    this.#miss(() => this.reads.missed.owners.add(ownerId));
    return undefined;
  }
}

const runOf = (row: Row): string => `run ${row.run}`;
const deliveryOf = (row: Row): string => `delivery ${row.delivery}`;
