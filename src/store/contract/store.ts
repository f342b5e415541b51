// The store: every verb is ONE transaction, and states its promise. Two backends implement this file (sqlite, postgres)
// and both must pass test/contract/store.ts. The nouns of the configuration (workflows, webhooks, …) are in resources.ts,
// and waits, streams, operations and nodes in files of their own.
//
// Promises of all verbs:
// - A promise that resolves means committed and on disk. One that rejects with `StoreUnavailable` means that nothing
//   was written; other rejections are bugs. Verbs called at the same time may share one transaction and one fsync,
//   but never each other's failures.
// - Everything is bound to its owner: what belongs to another is as if it did not exist.
// - Numbers (entries, runs, deliveries) come from one clock that never runs backwards; see domain/ids.ts.
// - Leases: a finishing write holds only if the lease is still ours; otherwise it writes nothing and says `held: false`.
// - When several nodes share one store, limits per workflow, source and webhook hold for all of them together.

import type {
  Attempt,
  ClaimedDelivery,
  DeliveryKind,
  DeliveryLease,
  DeliveryState,
} from '../../domain/delivery/delivery.ts';
import type { NotResendable } from '../../domain/delivery/progress.ts';
import type { Emission, NewEmission } from '../../domain/emission.ts';
import type { Runnable, Trigger, Webhook } from '../../domain/resource.ts';
import type { ClaimedRun, HttpAnswer, RunLease, RunState } from '../../domain/run/run.ts';
import type { RunEnd } from '../../domain/run/run-end.ts';
import type { StoreClock } from '../../ports.ts';
import type { AuditStore } from './audit.ts';
import type { CounterStore } from './counters.ts';
import type { NodeStore } from './nodes.ts';
import type { OperationStore } from './operations.ts';
import type {
  DeliveryRecord,
  DeliveryWhole,
  EmissionRecord,
  Ledger,
  Page,
  PageQuery,
  Receipt,
  RunRecord,
  RunWhole,
} from './records.ts';
import type { ResourceStore } from './resources.ts';
import type { SpaceStore } from './space.ts';
import type { StreamStore } from './streams.ts';
import type { WaitStore } from './waits.ts';

/**
 * Storage is out of reach or refuses to write (disk full, connection lost). Answered as 503 with Retry-After. It also comes
 * when it cannot be known whether a commit holds: the connection to a database broke in the middle of it, or its sync failed.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** Whether the write happened is not known. */
  readonly mayBeWritten: boolean = false;
}

/**
 * This node's free slots. The store asks while it inserts or claims; what is taken is returned as claimed.
 * Promise of the store: each `true` ends either in a claimed run or delivery of the answer, or in a `drop`
 * (when the transaction did not commit).
 */
export interface Admission {
  /** `besideHooks`: it begins although its source's hooks are under way. */
  takeRun(runnable: Runnable, besideHooks?: boolean): boolean;
  dropRun(runnableId: string): void;
  /** `webhook` is null for the owner's mail, and for requests that code asked for. */
  takeDelivery(listenerId: string, webhook: Webhook | null): boolean;
  dropDelivery(listenerId: string): void;
}

/** Rows that this node holds from now on, and whether rows were left for a tick to claim. */
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
  /** The first run that this emission caused, or null; an HTTP trigger's answer comes from it. */
  readonly firstRun: number | null;
  /** That run is over already: its queue was full. */
  readonly firstRunRefused: boolean;
  /** Set when the idempotency key was seen before: nothing was written, this is what the first call made. */
  readonly repeated: Repeated | null;
}

export interface Repeated {
  readonly answer: HttpAnswer | null;
  /** False: the key came with another request then. */
  readonly isSameRequest: boolean;
}

export interface Idempotency {
  readonly triggerId: string;
  readonly key: string;
  /** Of all that makes it another request. */
  readonly requestHash: string;
}

export interface AppendOptions {
  readonly idempotency?: Idempotency;
  /** A caller at this node waits for the first run's answer or end, also when another node executes it. */
  readonly isAwaited?: boolean;
  /**
   * The run that it causes goes on where another one failed: its `checkpoint` as JSON text, and its attempt. It keeps
   * the deployment that is the active one now, and its next wait has the number behind `checkpoint.waits`.
   */
  readonly continuation?: { readonly checkpoint: string; readonly attempt: number };
}

export interface Finished {
  /** False: the lease was lost, nothing was written. */
  readonly held: boolean;
  /** It should have begun to wait, or to be queued again, and is over instead: its owner had ordered it, or its workflow is gone. */
  readonly isCancelled?: boolean;
  readonly claims: Claims;
  /** Entry of the `$errors` emission, when one was written. */
  readonly errorEntry: number | null;
}

export interface Attempted extends Finished {
  /** The webhook was disabled by this attempt: what is claimed for it and not sent yet must go back. */
  readonly isDisabled: boolean;
}

export interface AttemptEnd {
  readonly delivery: ClaimedDelivery;
  readonly made: Attempt;
  /** The decision of domain/delivery/delivery.ts, with the due time made absolute. */
  readonly state: 'delivered' | 'retrying' | 'exhausted';
  readonly nextAttemptAtMs: number | null;
  /** Retry-After: nothing goes to this listener before then, and the attempt does not count. Only with `retrying`. */
  readonly pauseUntilMs: number | null;
  /** The `$errors` emission of an exhausted delivery. */
  readonly error: NewEmission | null;
  /** The receiver answered 410: no more deliveries to it. */
  readonly disableWebhook: boolean;
}

export interface LogStore {
  /**
   * Accepts an emission: writes it with every run and delivery that it causes. A run beyond its workflow's queue limit
   * is written as failed with `QueueFull` or `RateLimited`, and so is its `$errors`. With `idempotency`, at most one emission per
   * trigger and key within LIMITS.idempotencyMs; when several come at once, one wins and the others are `repeated`.
   */
  append(emission: NewEmission, admission: Admission, options?: AppendOptions): Promise<Appended>;
  /** Emissions of a workflow, source or webhook on one channel: never more than the newest LIMITS.listedPerEmitterAndName. */
  listEmissions(
    channel: { ownerId: string; emitterId: string; name: string },
    page: PageQuery<number>,
    withBody: boolean,
  ): Promise<Page<EmissionRecord>>;
  /** Whole, with body; undefined when it is not the owner's. */
  getEmission(ownerId: string, entry: number): Promise<Emission | undefined>;
  /** Every run, delivery and withheld listener of an emission, and then the mails that its runs sent, in the log's order. */
  receipts(ownerId: string, entry: number): Promise<readonly Receipt[]>;
  ledger(ownerId: string): Promise<Ledger>;
}

export interface RunStore {
  /**
   * Ends a run: its state, detail, emissions, their runs and deliveries, `$errors`, source db and dedupe memory. With state
   * `waiting` it is not over: what it emitted takes effect, it holds no hand, and it keeps its deployment and the time when
   * it was started first. An order that came before (resumeRun) is carried out at once; one for a wait that is a retry is
   * forgotten. A `$errors` among what it emitted is told beside that of its end, if it fails.
   */
  finishRun(end: RunEnd, admission: Admission): Promise<Finished>;
  /**
   * Claims queued runs, in turn over workflows and sources, oldest first within each, and of a throttled workflow no more
   * than domain/run/throttle.ts lets begin: every claim of its runs counts, whichever verb makes it, and a changed setting holds
   * from then on. `nextDueAtMs`: when the next of those may that wait for that alone; they are not `runsWaiting`.
   */
  claimRuns(limit: number, admission: Admission): Promise<Claims & { readonly nextDueAtMs: number | null }>;
  /** Hands back what did not run: queued again, the attempt not counted. Lost leases are passed over. */
  releaseRuns(leases: readonly RunLease[]): Promise<void>;
  /**
   * Takes what nodes that are gone still hold: runs are queued again as their next attempt, but one that is lost for
   * the LIMITS.rescues-th time fails with `WorkerLost`; deliveries are due at once. Called before this node claims
   * anything, and when `beat` asks for it.
   */
  rescue(admission: Admission): Promise<{ runs: number; deliveries: number; claims: Claims }>;
  /**
   * Cancels a queued or waiting run. `running`: it is for the node that runs it to end it; when that is another one, it
   * hears of it with its next `beat`. Should it begin to wait before, or be queued again, it is over then. Undefined: no such
   * run.
   */
  cancelRun(ownerId: string, run: number): Promise<RunState | undefined>;
  listRuns(
    of: { ownerId: string; runnableId: string; state?: RunState },
    page: PageQuery<number>,
  ): Promise<Page<RunRecord>>;
  getRun(ownerId: string, run: number): Promise<RunWhole | undefined>;
}

export interface DeliveryStore {
  /**
   * Claims deliveries that are due, in turn over webhooks, first attempts before retries; but of several that one webhook
   * gets, one in LIMITS.inFlightPerWebhook may be a retry that is due, so that a busy webhook's retries are not starved.
   * Of an ordered webhook only the open delivery with the lowest number, and only when it is due. Nothing of a webhook
   * that is paused. `nextDueAtMs`: when something that waits now will be due.
   */
  claimDeliveries(limit: number, admission: Admission): Promise<Claims & { readonly nextDueAtMs: number | null }>;
  /**
   * Ends an attempt: the attempt, the state, the next due time, the `$errors` of exhaustion with what it causes, and what
   * domain/delivery/health.ts says of the webhook: its health, its notice, and that it is disabled (what waits is then held).
   */
  recordAttempt(end: AttemptEnd, admission: Admission): Promise<Attempted>;
  /** Hands back what was not sent; the attempt is not counted. */
  releaseDeliveries(leases: readonly DeliveryLease[]): Promise<void>;
  listDeliveries(
    of: { ownerId: string; listenerId?: string; kind?: DeliveryKind; state?: DeliveryState },
    page: PageQuery<number>,
  ): Promise<Page<DeliveryRecord>>;
  getDelivery(ownerId: string, delivery: number): Promise<DeliveryWhole | undefined>;
  /**
   * Makes a delivery due at once (`retrying`, due by `resend`), in place of an attempt that was to come. One that was over
   * begins the schedule of retries again, and is no longer over. Undefined: no such delivery.
   */
  resendDelivery(ownerId: string, delivery: number): Promise<DeliveryRecord | NotResendable | undefined>;
}

/** One due time of a schedule trigger, and the one behind it. */
export interface Tick {
  readonly triggerId: string;
  readonly expectedAtMs: number;
  readonly nextAtMs: number;
}

export interface TimeStore {
  /** Schedule triggers whose tick is due, oldest first. */
  dueTriggers(limit: number): Promise<readonly Trigger[]>;
  /**
   * One tick: the emission and the next due time, only if `expectedAtMs` is still the trigger's next tick
   * (null otherwise: another node fired it, or it was changed). Each due time of a trigger is emitted once, also when it
   * becomes the next one again; then only the next due time is written (null). Throws when the next tick is not behind it.
   */
  fireTrigger(tick: Tick, emission: NewEmission, admission: Admission): Promise<Appended | null>;
  /** When the next schedule tick, digest, emission that waits or end of a run's wait is due; null when none is. */
  nextDueAtMs(): Promise<number | null>;
  /** Closes digest windows that are over: sends what was counted as one mail and opens the next, or forgets an empty one. */
  closeDigests(admission: Admission): Promise<Claims>;
  /**
   * Emits what has waited for its time (`delivery_ts`), in that order: each once, to who is subscribed now. At most
   * LIMITS.laterStep of them; `isMore`: there may be more.
   */
  releaseLater(admission: Admission): Promise<{ readonly claims: Claims; readonly isMore: boolean }>;
  /**
   * Deletes emissions (with their runs, deliveries and attempts) of before `beforeMs`, but none that still has work
   * open and none of the newest LIMITS.listedPerEmitterAndName that a list shows. The ledger stays as it is. Works in bounded steps:
   * call again with `next` until it is null. Forgets idempotency keys that are over, operations that ended before then, and audit
   * records of before then.
   */
  prune(beforeMs: number, from: number): Promise<{ emissions: number; next: number | null }>;
}

export interface Store
  extends LogStore,
    StreamStore,
    RunStore,
    WaitStore,
    DeliveryStore,
    OperationStore,
    CounterStore,
    SpaceStore,
    TimeStore,
    NodeStore,
    ResourceStore,
    AuditStore {
  /** What judges due times here: this machine's clock, or the database's as this node last heard it. */
  readonly clock: StoreClock;
  /** 32 bytes that are this store's own for ever, for that purpose and no other. */
  deriveKey(purpose: string): Uint8Array;
  /** Whether storage answers and takes writes. */
  check(): Promise<boolean>;
  /** Waits for verbs under way, then closes. May be called twice. */
  close(): Promise<void>;
}
