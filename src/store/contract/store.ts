// The store: every verb is ONE transaction, and states its promise. Two backends implement this file (sqlite, postgres)
// and both must pass test/contract/store.ts. The nouns of the configuration (workflows, webhooks, …) are in resources.ts,
// and waits, streams, operations and nodes in files of their own.
//
// Promises of all verbs:
// - A promise that resolves means committed and on disk. One that rejects with `StoreUnavailable` means that nothing was
//   written (but see `mayBeWritten`); other rejections are bugs. Verbs called at the same time may share one transaction and
//   one fsync, but never each other's failures.
// - Everything is bound to its owner: a record of another owner is as if it did not exist.
// - Numbers (entries, runs, deliveries) come from one clock that never runs backwards; see domain/ids.ts.
// - Leases: a finishing write needs a lease that is still ours; otherwise it writes nothing and returns `held: false`.
// - When several nodes share one store, limits per workflow, source and webhook apply to all nodes together.

import type { Attempt, AttemptedState, ClaimedDelivery, DeliveryLease } from '../../domain/delivery/delivery.ts';
import type { NotResendable } from '../../domain/delivery/progress.ts';
import type { Emission, NewEmission } from '../../domain/emission.ts';
import type { Replay } from '../../domain/errors/replay.ts';
import type { Runnable, Schedule, Trigger, Webhook } from '../../domain/resource.ts';
import type { Continuation } from '../../domain/run/failed-step.ts';
import type { ClaimedRun, HttpAnswer, RunState } from '../../domain/run/run.ts';
import type { RunEnd } from '../../domain/run/run-end.ts';
import type { StoreClock } from '../../ports.ts';
import type { AuditStore } from './audit.ts';
import type { NoticeStore } from './channels.ts';
import type { CounterStore } from './counters.ts';
import type { ErrorGroupStore, GroupSearchStore } from './error-groups.ts';
import type { NodeStore } from './nodes.ts';
import type { OperationStore, ReplayStep } from './operations.ts';
import type { OwnerDeletionStore } from './owner-deletions.ts';
import type {
  DeliveryQuery,
  DeliveryRecord,
  DeliveryWhole,
  EmissionRecord,
  Ledger,
  ListedRun,
  Page,
  PageQuery,
  Receipt,
  RunWhole,
} from './records.ts';
import type { RedactionStore } from './redaction.ts';
import type { ResourceStore } from './resources.ts';
import type { ErrorsPlace, PrunedErrors } from './retention.ts';
import type { SearchStore } from './search.ts';
import type { SpaceStore } from './space.ts';
import type { StatsStore } from './stats.ts';
import type { StreamStore } from './streams.ts';
import type { WaitStore } from './waits.ts';
import type { WatchDecision, WatchStore } from './watches.ts';

/**
 * This node's free slots. The store asks while it inserts or claims; what is taken is returned as claimed.
 * Promise of the store: each `true` ends either in a claimed run or delivery of the answer, or in a `drop`
 * (when the transaction did not commit).
 */
export interface FreeSlots {
  /** Takes a slot; returns false when none is free. `besideHooks`: the run begins although its source's hooks are under way. */
  takeRun(runnable: Runnable, besideHooks?: boolean): boolean;
  dropRun(runnableId: string): void;
  /** Takes a slot for a delivery, in the same way. `webhook` is null for the owner's mail and for requests of code. */
  takeDelivery(listenerId: string, webhook: Webhook | null): boolean;
  dropDelivery(listenerId: string): void;
}

/** Rows that were leased to this node, and whether rows are left for a tick to claim. */
export interface Claims {
  readonly runs: readonly ClaimedRun[];
  readonly deliveries: readonly ClaimedDelivery[];
  readonly runsWaiting: boolean;
  readonly deliveriesWaiting: boolean;
}

export interface Appended {
  readonly entry: number;
  readonly emitId: string;
  readonly claims: Claims;
  /** The first run that this emission caused, or null; it answers an HTTP trigger. */
  readonly firstRun: number | null;
  /** The first run has failed already: its queue was full. */
  readonly firstRunRefused: boolean;
  /** Set when the idempotency key was used before: nothing was written, and this is the result of the first call. */
  readonly repeated: Repeated | null;
  /** Set when the event of `unlessReplayed` was run again, or is: nothing was written, and `entry` is that error. */
  readonly lastReplay?: Replay;
}

/** A run that failed, and its error. */
export interface RunFailure {
  readonly entry: number;
  readonly causeRun: number;
}

export interface Repeated {
  readonly answer: HttpAnswer | null;
  /** False: the key was first used with another request. */
  readonly isSameRequest: boolean;
}

export interface Idempotency {
  readonly triggerId: string;
  readonly key: string;
  /** A hash of everything that distinguishes requests. */
  readonly requestHash: string;
}

export interface AppendOptions {
  readonly idempotency?: Idempotency;
  /** A caller at this node waits for the first run's answer or end, even if another node executes it. */
  readonly isAwaited?: boolean;
  /**
   * The caused run goes on where another one failed: its `checkpoint` as JSON text, and its attempt. It has the deployment that
   * is active now, and numbers its waits from `checkpoint.waits` on.
   */
  readonly continuation?: Continuation;
  /**
   * Nothing is written when a replay or retry stands for this error: of several calls at the same time one writes.
   * `byOperation`: only when it is under way, and an operation made it.
   */
  readonly unlessReplayed?: RunFailure & { readonly byOperation?: boolean };
}

export interface Finished {
  /** False: the lease has expired, and nothing was written. */
  readonly held: boolean;
  /** It was to wait or be queued again, and is cancelled instead: by its owner's order, or because its workflow is gone. */
  readonly isCancelled?: boolean;
  readonly claims: Claims;
  /** Entry of the `$errors` emission, if one was written. */
  readonly errorEntry: number | null;
}

export interface Attempted extends Finished {
  /** The attempt disabled the webhook: deliveries that are claimed for it and not yet sent must be released. */
  readonly isDisabled: boolean;
}

export interface AttemptEnd {
  readonly delivery: ClaimedDelivery;
  readonly made: Attempt;
  /** The decision of domain/delivery/delivery.ts, with an absolute due time. */
  readonly state: AttemptedState;
  readonly nextAttemptAtMs: number | null;
  /** Retry-After: the listener is paused until then, and the attempt does not count. Only with `retrying`. */
  readonly pauseUntilMs: number | null;
  /** The `$errors` emission of an exhausted delivery. */
  readonly error: NewEmission | null;
  /** The receiver answered 410: its webhook is disabled. */
  readonly disableWebhook: boolean;
}

export interface LogStore {
  /**
   * Accepts an emission: writes it with every run and delivery that it causes. A run beyond its workflow's queue limit
   * is written as failed with `QueueFull` or `RateLimited`, with its `$errors`. With `idempotency`, at most one emission per
   * trigger and key within LIMITS.idempotencyMs; of several calls at the same time one writes, and the others are `repeated`.
   * With `unlessReplayed`, one event is run again once.
   */
  append(emission: NewEmission, admission: FreeSlots, options?: AppendOptions): Promise<Appended>;
  /**
   * Replays errors, as many as the operation may have under way, and moves its cursor behind them in the same transaction: each
   * error is passed once, whatever becomes of processes. Writes nothing when the operation does not run, or its cursor has
   * moved: another process was faster. The runs are queued: they overtake none of their workflow. `made`: how many.
   */
  replayErrors(step: ReplayStep): Promise<{ readonly made: number; readonly claims: Claims }>;
  /**
   * Lists emissions of an emitter on one channel: at most the newest LIMITS.listedPerEmitterAndName. `itemId`: those alone to
   * which their source gave that id, among the newest LIMITS.searchedRecords.
   */
  listEmissions(
    channel: { ownerId: string; emitterId: string; name: string; itemId?: string },
    page: PageQuery<number>,
    withBody: boolean,
  ): Promise<Page<EmissionRecord>>;
  /** Returns an emission with its body; undefined: the owner has no such emission. */
  getEmission(ownerId: string, entry: number): Promise<Emission | undefined>;
  /** Returns every run, delivery and withheld listener of an emission and of what its runs sent, in the log's order. */
  receipts(ownerId: string, entry: number): Promise<readonly Receipt[]>;
  ledger(ownerId: string): Promise<Ledger>;
}

export interface RunStore {
  /**
   * Ends a run: writes its state, detail, emissions, their runs and deliveries, `$errors`, source db and dedupe memory. With
   * state `waiting` the run goes on later: its emissions are written, its slot is free, and it keeps its deployment and first
   * start time. An early order (resumeRun) is executed at once; an early order for a retry is dropped. A `$errors` among its
   * emissions counts beside that of its failure.
   */
  finishRun(end: RunEnd, admission: FreeSlots): Promise<Finished>;
  /**
   * Claims queued runs, round robin over owners and their workflows and sources, oldest first within each. A throttled workflow
   * begins no more runs than domain/run/throttle.ts allows; claims of all verbs count, and a changed setting applies at once.
   * `nextDueAtMs`: when the next run may begin that only waits for its throttle; such runs are not `runsWaiting`.
   */
  claimRuns(limit: number, admission: FreeSlots): Promise<Claims & { readonly nextDueAtMs: number | null }>;
  /**
   * Rescues what is leased to nodes that are gone: runs are queued again as their next attempt, but fail with `WorkerLost`
   * at the LIMITS.rescues-th time; deliveries are due at once. Called before this node claims anything, and when `beat`
   * reports that it is due.
   */
  rescue(admission: FreeSlots): Promise<{ runs: number; deliveries: number; claims: Claims }>;
  /**
   * Cancels a queued or waiting run, and returns its state. `running`: its node has to end it; another node is notified by its
   * next `beat`. If the run begins to wait or is queued again before that, it is cancelled then. Undefined: no such run.
   */
  cancelRun(ownerId: string, run: number): Promise<RunState | undefined>;
  /** Returns runs of one workflow or source; without `runnableId`, of all of the owner, also of those that are deleted. */
  listRuns(
    of: { ownerId: string; runnableId?: string; state?: RunState },
    page: PageQuery<number>,
  ): Promise<Page<ListedRun>>;
  getRun(ownerId: string, run: number): Promise<RunWhole | undefined>;
}

export interface DeliveryStore {
  /**
   * Claims deliveries that are due, round robin over listeners, first attempts before retries; but one in
   * LIMITS.inFlightPerWebhook may be a retry that is due, so that a busy webhook's retries are not starved. An ordered webhook
   * gives only its open delivery with the lowest number, once that is due; a paused webhook gives none.
   * `nextDueAtMs`: when a delivery that waits now will be due.
   */
  claimDeliveries(limit: number, admission: FreeSlots): Promise<Claims & { readonly nextDueAtMs: number | null }>;
  /**
   * Ends an attempt: writes the attempt, the state, the next due time, the `$errors` of exhaustion with what it causes, and the
   * decisions of domain/delivery/health.ts: the webhook's health, a notice, or its disabling, which holds what waits. A mail about
   * errors that is exhausted holds no further one back (domain/delivery/given-up.ts).
   */
  recordAttempt(end: AttemptEnd, admission: FreeSlots): Promise<Attempted>;
  /** Makes deliveries due again that were not sent, without counting the attempt. */
  releaseDeliveries(leases: readonly DeliveryLease[]): Promise<void>;
  listDeliveries(of: DeliveryQuery, page: PageQuery<number>): Promise<Page<DeliveryRecord>>;
  getDelivery(ownerId: string, delivery: number): Promise<DeliveryWhole | undefined>;
  /**
   * Makes a delivery due at once (`retrying`, due by `resend`), in place of its next attempt. A delivery that was over begins
   * the schedule of retries again. Undefined: no such delivery.
   */
  resendDelivery(ownerId: string, delivery: number): Promise<DeliveryRecord | NotResendable | undefined>;
}

/** One due time of a schedule trigger, and the next one. */
export interface Tick {
  readonly triggerId: string;
  readonly schedule: Schedule;
  readonly expectedAtMs: number;
  readonly nextAtMs: number;
}

/** Since when what is not begun waits, of all owners. Null: nothing waits. */
export interface LongestWait {
  /** The oldest run that has never begun: when it was queued. */
  readonly runMs: number | null;
  /** The delivery that is due first: when that is, which may be later than now. */
  readonly deliveryMs: number | null;
}

/** By how much the clock was set back, at least. */
export interface SetBack {
  readonly nowMs: number;
  readonly backMs: number;
}

export interface TimeStore {
  /**
   * Keeps, about every CLOCK_LIMITS.keptMs, what time it is. If the clock was set back since then by more than
   * CLOCK_LIMITS.toleranceMs, whatever was to happen later is set back by as much, once for all nodes: ticks, waits, retries, pauses
   * that receivers asked for, digests, notices. Times that users gave stay. `nextTick` returns the first due time of a schedule
   * after a time. Returns by how much the clock was set back; 0: it was not, or another node was first.
   */
  followClock(nextTick: (schedule: Schedule, afterMs: number) => number): Promise<number>;
  /** Returns what has waited longest. One look for each workflow, source and listener, however much waits for it. */
  longestWaiting(): Promise<LongestWait>;
  /** Returns schedule triggers whose tick is due, oldest first. */
  dueTriggers(limit: number): Promise<readonly Trigger[]>;
  /**
   * Fires a tick: writes the emission and the next due time, if `expectedAtMs` is still the trigger's next tick, and `schedule` its
   * schedule (else null: another node fired it, or it was changed). Each due time of a schedule is emitted once, as long as
   * `followClock` does not set it back; if it becomes the next one again, only the next due time is written (null). Throws when the next tick is not later.
   */
  fireTrigger(tick: Tick, emission: NewEmission, admission: FreeSlots): Promise<Appended | null>;
  /** Returns when the next schedule tick, digest, notice, later emission, end of a run's wait or watch is due; null: none. */
  nextDueAtMs(): Promise<number | null>;
  /** Closes digest windows that are over: sends one mail of the repeats and opens the next window, or deletes an empty one. */
  closeDigests(admission: FreeSlots): Promise<Claims>;
  /**
   * Emits later emissions that are due (`delivery_ts`), in that order, each once and to the subscriptions of that moment. At
   * most LIMITS.laterStep; `isMore`: there may be more.
   */
  releaseLater(admission: FreeSlots): Promise<{ readonly claims: Claims; readonly isMore: boolean }>;
  /**
   * Looks at errors whose workflow has `globalErrors` set to `fallback`: the global error workflow gets those, each once, whose runs
   * and deliveries are over without a success. At most NOTICE_LIMITS.fallbacksPerStep; `isMore`: there may be more.
   */
  tellGlobal(admission: FreeSlots): Promise<{ readonly claims: Claims; readonly isMore: boolean }>;
  /**
   * Replaces a watch by what was decided, with the emissions that tell of it, in one transaction. Null: the watch has changed
   * since it was read, and nothing was written. Of several nodes that judge the same watch one succeeds.
   */
  decideWatch(decision: WatchDecision, admission: FreeSlots): Promise<Claims | null>;
  /**
   * Deletes emissions before `beforeMs` with their runs, deliveries and attempts, but none with open work and none of the newest
   * LIMITS.listedPerEmitterAndName that a list shows. The ledger does not change. Works in bounded steps: call again with `next`
   * until it is null. Also deletes expired idempotency keys, and older audit records and ended operations.
   */
  prune(beforeMs: number, from: number): Promise<{ emissions: number; next: number | null }>;
  /**
   * Deletes errors of workflows with `errorRetention`, which `prune` leaves alone: those that neither `beforeMs` nor the workflow
   * keeps, none with open work. Works in bounded steps, as `prune` does.
   */
  pruneErrors(of: { readonly beforeMs: number; readonly nowMs: number }, from: ErrorsPlace): Promise<PrunedErrors>;
}

export interface Store
  extends LogStore,
    StreamStore,
    GroupSearchStore,
    SearchStore,
    RunStore,
    WaitStore,
    DeliveryStore,
    OperationStore,
    ErrorGroupStore,
    NoticeStore,
    CounterStore,
    StatsStore,
    SpaceStore,
    TimeStore,
    WatchStore,
    NodeStore,
    RedactionStore,
    ResourceStore,
    OwnerDeletionStore,
    AuditStore {
  /** The clock that judges due times: this machine's, or the database's as this node last read it. */
  readonly clock: StoreClock;
  /** Returns 32 bytes for one purpose, the same for the life of the store. */
  deriveKey(purpose: string): Uint8Array;
  /** Returns whether storage answers and takes writes. */
  check(): Promise<boolean>;
  /** Waits for verbs under way, then closes the store. May be called twice. */
  close(): Promise<void>;
}
