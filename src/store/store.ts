// The store: every verb is ONE transaction, and states its promise. Two backends implement this file (sqlite, postgres)
// and both must pass test/contract/store.ts. The nouns of the configuration (workflows, webhooks, …) are in resources.ts.
//
// Promises of all verbs:
// - A promise that resolves means committed and on disk. One that rejects with `StoreUnavailable` means that nothing
//   was written; other rejections are bugs. Verbs called at the same time may share one transaction and one fsync,
//   but never each other's failures.
// - Everything is bound to its owner: what belongs to another is as if it did not exist.
// - Numbers (entries, runs, deliveries) come from one clock that never runs backwards; see domain/ids.ts.
// - Leases: a finishing write holds only if the lease is still ours; otherwise it writes nothing and says `held: false`.
// - When several nodes share one store, limits per workflow, source and webhook hold for all of them together.

import type { Attempt, ClaimedDelivery, DeliveryKind, DeliveryLease, DeliveryState } from '../domain/delivery.ts';
import type { Emission, NewEmission } from '../domain/emission.ts';
import type { RunEnd } from '../domain/end.ts';
import type { NewOperation, Operation, OperationOrder } from '../domain/operation.ts';
import type { Runnable, Trigger, Webhook } from '../domain/resource.ts';
import type { ClaimedRun, Fault, HttpAnswer, RunLease, RunState } from '../domain/run.ts';
import type { Wait } from '../domain/waiting.ts';
import type { Clock, Wake } from '../ports.ts';
import type {
  DeliveryRecord,
  DeliveryWhole,
  EmissionRecord,
  Ledger,
  NotResendable,
  Page,
  PageQuery,
  Receipt,
  RunRecord,
  RunWhole,
} from './records.ts';
import type { ResourceStore } from './resources.ts';

/**
 * Storage is out of reach or refuses to write (disk full, connection lost). Answered as 503 with Retry-After. When the
 * connection to a database breaks in the middle of a commit, and nobody can be asked what became of it, this comes too.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** Whether the write happened is not known. */
  readonly mayBeWritten: boolean = false;
}

/**
 * This node's free hands. The store asks while it inserts or claims; what is taken is returned as claimed.
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
  readonly repeated: { readonly answer: HttpAnswer | null } | null;
}

export interface Idempotency {
  readonly triggerId: string;
  readonly key: string;
}

export interface AppendOptions {
  readonly idempotency?: Idempotency;
  /** Somebody at this node waits for the first run's answer or end, also when another node executes it. */
  readonly isAwaited?: boolean;
  /**
   * The run that it causes goes on where another one failed: `carried` as JSON text of Carried, and its attempt. It keeps
   * the deployment that is the active one now, and its next wait has the number behind `carried.waits`.
   */
  readonly goingOn?: { readonly carried: string; readonly attempt: number };
}

/** Which wait of a run: the first one is 1. */
export interface WaitOf {
  readonly run: number;
  readonly waits: number;
}

/** What a resume or cancel address is checked against. */
export interface WaitingRun {
  readonly ownerId: string;
  readonly runnableId: string;
  readonly deploymentId: string;
  readonly state: RunState;
}

export interface Finished {
  /** False: the lease was lost, nothing was written. */
  readonly held: boolean;
  /** It should have begun to wait, or to be queued again, and is over instead: somebody had ordered it, or its workflow is gone. */
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
  /** The decision of domain/delivery.ts, with the due time made absolute. */
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
   * is written as failed with `QueueFull`, and so is its `$errors`. With `idempotency`, at most one emission per
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
  /** Every run, delivery and withheld listener of an emission, and the mails that its runs sent. */
  receipts(ownerId: string, entry: number): Promise<readonly Receipt[]>;
  ledger(ownerId: string): Promise<Ledger>;
}

/** What one emitter emits, as its lists show it. */
export interface Channel {
  readonly ownerId: string;
  readonly emitterId: string;
  /** As a subscription has it: empty for the default one, `*` for all names that do not begin with `$`. */
  readonly name: string;
}

/** Entries behind `after`, up to `upTo` and with it. */
export interface Stretch {
  readonly after: number;
  readonly upTo: number;
}

/** The log read forwards, as it grows. */
export interface StreamStore {
  /**
   * The end of the log, as of this call: all that was committed before it has a lower entry or this one, but for what is
   * of this very millisecond; whatever is committed later has a higher one. So whoever reads up to here misses nothing,
   * wherever it is written. Waits until those who write at this moment are done.
   */
  logEnd(): Promise<number>;
  /**
   * Emissions that lists show, oldest first: the next ones, as many as a step takes (LIMITS.streamRecords, and no further
   * one beyond LIMITS.streamBytes of bodies). None: there is nothing in the whole stretch.
   */
  emissionsAfter(channel: Channel, stretch: Stretch, withBody: boolean): Promise<readonly EmissionRecord[]>;
  /** Who has emitted what lists show. */
  emittersAfter(stretch: Stretch): Promise<ReadonlySet<string>>;
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
   * than domain/throttle.ts lets begin: every claim of its runs counts, whichever verb makes it, and a changed setting holds
   * from then on. `nextDueAtMs`: when the next of those may that wait for that alone; they are not `runsWaiting`.
   */
  claimRuns(limit: number, admission: Admission): Promise<Claims & { readonly nextDueAtMs: number | null }>;
  /**
   * Ends waits that are due: a suspended run is cancelled, all others are queued again. At most `limit`, the longest due
   * first. What is queued is claimed with all others, oldest number first. `cancelled`: numbers of the runs that are over
   * now. `isMore`: there may be others that are due.
   */
  endWaits(
    limit: number,
  ): Promise<{ readonly queued: number; readonly cancelled: readonly number[]; readonly isMore: boolean }>;
  /** Not bound to an owner: whoever asks has the run's address, which the caller of this has checked. */
  waitingRun(run: number): Promise<WaitingRun | undefined>;
  /**
   * Ends a wait by request: the run is queued with `request` (JSON text) as its `resumed`, or cancelled. Also before the
   * run has begun that wait (it is running, or queued again since its process was lost, and has had one wait less): the order
   * is kept, and holds when it begins it; the first order counts. `over`: it was ended or ordered before, is not resumable
   * (a retry), or the run is over. Undefined: no such run.
   * `resumed` is given with every claim up to the next wait, so that a segment that is executed again has it again.
   */
  resumeRun(of: WaitOf, order: 'resume' | 'cancel', request: string | null): Promise<'taken' | 'over' | undefined>;
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
   * domain/health.ts says of the webhook: its health, its notice, and that it is disabled (what waits is then held).
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
   * begins the schedule of retries anew, and is no longer over. Undefined: no such delivery.
   */
  resendDelivery(ownerId: string, delivery: number): Promise<DeliveryRecord | NotResendable | undefined>;
}

export interface OperationStore {
  /** False when the webhook is gone. */
  createOperation(operation: NewOperation): Promise<boolean>;
  getOperation(ownerId: string, id: string): Promise<Operation | undefined>;
  listOperations(of: { ownerId: string; webhookId?: string }, page: PageQuery): Promise<Page<Operation>>;
  /** `refused`: it is over. The same order twice is no mistake. Undefined: no such operation. */
  orderOperation(
    ownerId: string,
    id: string,
    order: OperationOrder,
  ): Promise<{ readonly operation: Operation; readonly refused: boolean } | undefined>;
  /**
   * One step of one running operation, in turn over all of them: counts, or makes due, at most LIMITS.operationStep
   * deliveries, and its progress with them in one transaction. `isResent`: deliveries are due. `isMore`: there may be
   * another step to take at once; else all of them wait for deliveries under way, for a webhook to be enabled, or are over.
   */
  stepOperation(): Promise<{ readonly isResent: boolean; readonly isMore: boolean }>;
}

export interface TimeStore {
  /** Schedule triggers whose tick is due, oldest first. */
  dueTriggers(limit: number): Promise<readonly Trigger[]>;
  /**
   * One tick: the emission and the next due time, only if `expectedAtMs` is still the trigger's next tick
   * (null otherwise: another node fired it, or it was changed).
   */
  fireTrigger(
    tick: { triggerId: string; expectedAtMs: number; nextAtMs: number },
    emission: NewEmission,
    admission: Admission,
  ): Promise<Appended | null>;
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
   * call again with `next` until it is null. Forgets idempotency keys that are over, and operations that ended before then.
   */
  prune(beforeMs: number, from: number): Promise<{ emissions: number; next: number | null }>;
}

/** What became of a run that somebody waits for. */
export interface Awaited {
  readonly run: number;
  /** What it has answered so far. */
  readonly answer: HttpAnswer | null;
  /** Null while it is not over. */
  readonly ended: { readonly state: RunState; readonly fault: Fault | null } | null;
  /** Set while its state is `waiting`, and only then: whoever waits for its answer may have to be let go. */
  readonly waiting: Wait | null;
}

export interface Beat {
  /** Runs held by this node that somebody asked another node to cancel. */
  readonly cancel: readonly number[];
  /** Somebody's leases are over: call `rescue`. */
  readonly isRescueDue: boolean;
}

/** What nodes that share a store tell each other. */
export interface NodeStore {
  /** Says that this node is alive; to be called every LIMITS.beatMs. A node that does not is gone for the others. */
  beat(): Promise<Beat>;
  /** Hands an answer that a run gives before its end to the node whose caller waits for it. */
  answerRun(lease: RunLease, answer: HttpAnswer): Promise<void>;
  /** Of those runs, what another node has told: an answer, an end, or both. */
  awaited(runs: readonly number[]): Promise<readonly Awaited[]>;
  /** Calls back when another node has made work, and when anybody has emitted. A hint: it may be lost. */
  listen(wake: Wake): void;
}

export interface Store
  extends LogStore,
    StreamStore,
    RunStore,
    DeliveryStore,
    OperationStore,
    TimeStore,
    NodeStore,
    ResourceStore {
  /** What judges due times here: this machine's clock, or the database's as this node last heard it. */
  readonly clock: Clock;
  /** 32 bytes that are this store's own for ever, for that purpose and no other. */
  deriveKey(purpose: string): Uint8Array;
  /** Whether storage answers and takes writes. */
  check(): Promise<boolean>;
  /** Waits for verbs under way, then closes. May be called twice. */
  close(): Promise<void>;
}
