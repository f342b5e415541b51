// What one verb reads and writes of the log within its transaction. The decisions (what runs, what the end of a run causes,
// what is rescued) are written once, beside this file, over these interfaces; a backend only reads and writes.
//
// Everything here is synchronous. SQLite executes each statement where it is called. Postgres first reads and locks what its
// verbs declare (`needs`), plans all verbs in memory, and sends the planned rows with one statement per table. A plan that
// misses a row is dropped, and made again once the row is read. So a decision must be repeatable: it changes only what it
// reaches through its LogWriter.

import type { ClaimedDelivery, DeliveryState } from '../../domain/delivery/delivery.ts';
import type { QueueState } from '../../domain/delivery/queue-state.ts';
import type { Emission, NewEmission } from '../../domain/emission.ts';
import type { Fingerprint } from '../../domain/errors/fingerprint.ts';
import type { GroupedError } from '../../domain/errors/group.ts';
import type { Replay } from '../../domain/errors/replay.ts';
import type { Replaying } from '../../domain/errors/replaying.ts';
import type { Dedupe, Owner, Runnable, Subscription, Via, Webhook } from '../../domain/resource.ts';
import type { Withheld } from '../../domain/route.ts';
import type { ClaimedRun, HttpAnswer, RunLease, RunState } from '../../domain/run/run.ts';
import type { RunEnd } from '../../domain/run/run-end.ts';
import type { Continued } from '../../domain/run/run-trace.ts';
import type { EarlyOrder, WaitStart } from '../../domain/run/wait.ts';
import type { WatchKind } from '../../domain/watch/watch.ts';
import type { ReplayResult, ReplayStep } from '../contract/operations.ts';
import type { Claims, Idempotency, RunFailure, Tick } from '../contract/store.ts';
import type { WatchDecision } from '../contract/watches.ts';
import type { DigestStore } from './groups/digest-store.ts';
import type { LastReplay } from './replays/last-replays.ts';

/** What a verb has claimed for this process; filled until the transaction is committed. */
export interface ClaimsSoFar extends Claims {
  readonly runs: ClaimedRun[];
  readonly deliveries: ClaimedDelivery[];
  runsWaiting: boolean;
  deliveriesWaiting: boolean;
}

export function noClaims(): ClaimsSoFar {
  return { runs: [], deliveries: [], runsWaiting: false, deliveriesWaiting: false };
}

/** One verb's view of its transaction. This verb and the later ones of the transaction see what it writes. */
export interface LogWriter
  extends FallbackStore,
    KeyStore,
    DigestStore,
    LaterPort,
    SourceMemory,
    GroupStore,
    ReplayStore {
  readonly nowMs: number;
  /** Begins every emit id of this store. */
  readonly storeTag: string;
  readonly claims: ClaimsSoFar;

  /** Returns the next number of the log, for an emission, a run or a delivery. */
  nextNumber(): number;

  owner(ownerId: string): Owner | undefined;
  runnable(ownerId: string, id: string): Runnable | undefined;
  webhook(ownerId: string, id: string): Webhook | undefined;
  /** Returns the active subscriptions to this emitter or to a wildcard that covers it; most specific first. */
  subscriptionsTo(ownerId: string, emitterId: string): readonly Subscription[];

  /** Changes a figure of the owner's ledger, e.g. `emissions`. Runs and deliveries are counted by their queues. */
  count(ownerId: string, fact: string, by: number): void;

  insertEmission(emission: Emission): void;
  /** Inserts a withheld emission. `dueAtMs`: when a fallback is looked at first; null: it is none. */
  insertWithheld(entry: number, withheld: Withheld, dueAtMs: number | null): void;
  insertRun(run: NewRun): void;
  insertDelivery(delivery: NewDelivery): void;

  runQueue(ownerId: string, runnableId: string): RunQueue;
  deliveryQueue(ownerId: string, listenerId: string): DeliveryQueue;

  /** Returns the run that runs under this lease; undefined: none. A verb that gets a run moves it out of its state, once. */
  leasedRun(lease: RunLease): LeasedRun | undefined;
  /** Returns runs whose lease has expired, or whose process is gone. */
  expiredRuns(): readonly LeasedRun[];

  /**
   * Sets a trigger to its next tick. Returns whether this tick is to be emitted: it is the trigger's next one, and no tick was
   * emitted for its time. A source's tick is counted as skipped while the run of the tick before is not over.
   */
  takeTick(tick: Tick): boolean;
  /** Writes a decision; returns false when the watch has changed since it was read. */
  takeDecision(decision: WatchDecision): boolean;
  /** Notes the end of a run for the watches of its workflow; written before the transaction is committed (watch/notes.ts). */
  noteForWatches(runnableId: string, note: RunNote, where: NotedIn): void;

  /** Takes a slot of this process for a run; returns false when none is free. Without a commit the slot is given back. */
  takeRun(runnable: Runnable, besideHooks?: boolean): boolean;
  /** Takes a slot for a delivery, in the same way. `webhook` is null for the owner's mail and for requests of code. */
  takeDelivery(listenerId: string, webhook: Webhook | null): boolean;

  /** Wakes the other processes that share the store, after the commit. */
  wakeOthers(topic: 'runs' | 'deliveries' | 'answers'): void;
}

/** How a run ended. `ran`: up to a wait. `refused`: it failed before it began. */
export type RunNote = 'succeeded' | 'failed' | 'ran' | 'refused';

/** What a note is for. */
export interface NotedIn {
  readonly kinds: readonly WatchKind[];
  /** Of the window in which errors are counted; null: they are not. */
  readonly part: number | null;
}

/** Idempotency keys. */
export interface KeyStore {
  /** Returns the result of the first request with this key; undefined: this request is the first. */
  findKey(key: Idempotency): KeptKey | undefined;
  keepKey(key: Idempotency, first: { readonly entry: number; readonly run: number | null }): void;
}

export interface KeptKey {
  readonly entry: number;
  readonly run: number | null;
  readonly answer: HttpAnswer | null;
  readonly requestHash: string | null;
}

/** Operations that replay errors, and retries. */
export interface ReplayStore {
  /** Locks the error that a run failed with, and returns the replay that stands for it; undefined: there is none. */
  lastReplayOf(ownerId: string, error: RunFailure): Replay | undefined;
  /** Locks and returns an operation; undefined: it does not run. A verb writes what it gets, once. */
  takeReplay(step: ReplayStep): LockedReplay | undefined;
  writeReplays(made: ReplaysMade): void;
}

/** A replay operation whose row is locked. */
export interface LockedReplay {
  readonly id: string;
  readonly ownerId: string;
  readonly after: number;
  readonly lastEntry: number;
  readonly replaying: Replaying;
  /** By entry, for the errors that the step may replay. They are locked. */
  readonly lastReplays: ReadonlyMap<number, LastReplay>;
}

/** What a step has written. */
export interface ReplaysMade extends Omit<LockedReplay, 'lastReplays'> {
  readonly results: readonly (ReplayResult & { readonly groupId: string | null })[];
  /** The operation's place behind those that had no step since. */
  readonly turn: number;
  readonly nowMs: number;
}

/** Errors that the global error workflow gets if no other listener takes them. */
export interface FallbackStore {
  /** Returns some of those that are to be looked at, locked. */
  takeFallbacks(): readonly DueFallback[];
  writeFallback(made: FallbackDecision): void;
}

export interface DueFallback {
  readonly emission: Emission;
  /** `taken`: a listener has succeeded. `open`: none has, and one may. `left`: none will. */
  readonly subscribers: 'taken' | 'open' | 'left';
}

/** `told`: the global error workflow gets it now. Else when it is looked at again (null: never) and why it is withheld. */
export type FallbackDecision =
  | { readonly entry: number; readonly told: true }
  | { readonly entry: number; readonly told: false; readonly dueAtMs: number | null; readonly reason: string };

export interface GroupStore {
  /** Counts an error in its group, or in that for other errors (full-emitters.ts). Returns the id. Written before the commit. */
  captureError(group: NewGroup, error: GroupedError): string;
  /** Resolves a group if it is open: what its errors told of is over. */
  resolveGroup(id: string): void;
}

/** A group as its first error makes it. */
export interface NewGroup {
  readonly id: string;
  readonly ownerId: string;
  readonly emitterId: string;
  readonly fingerprint: Fingerprint;
  /** The name that a rule gives the group. */
  readonly rule: string | null;
  /** Channels are notified of its errors. */
  readonly isTold: boolean;
}

/** Emissions that wait until they are due. */
export interface LaterPort {
  insertLater(made: NewEmission, dueAtMs: number): void;
  /** Deletes and returns those that are due, the longest due first: at most `LIMITS.laterStep`. */
  takeDueLater(): readonly Emission[];
}

export interface SourceMemory {
  /** Returns how a source's emissions are deduplicated; null: they are not, undefined: the source is gone. */
  dedupeOf(sourceId: string): Dedupe | null | undefined;
  /** Sets a value of a source's memory. `value`: JSON text; null clears it. */
  setSourceValue(sourceId: string, name: string, value: string | null): void;
  /** Returns the remembered ids of items, the newest last. */
  rememberedIds(sourceId: string): readonly string[];
  rememberIds(sourceId: string, removed: readonly string[], added: readonly string[]): void;
}

/** A run as it is inserted: `running` (its slot is taken), `queued`, or `failed` (its queue was full). */
export interface NewRun {
  readonly run: number;
  readonly emission: Emission;
  readonly runnable: Runnable;
  readonly via: Via;
  readonly subscriptionId: string | null;
  readonly state: 'running' | 'queued' | 'failed';
  readonly attempt: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** A caller at this process waits for the run. */
  readonly isAwaited: boolean;
  /** What another run has done is behind this one. */
  readonly continued: Continued | null;
  readonly error: RunError | null;
}

/** The `$errors` emission of a failed run. */
export interface RunError {
  readonly entry: number | null;
  readonly code: string;
}

/** A running run, under a lease of this process or an expired one. It leaves that state once. */
export interface LeasedRun {
  readonly run: number;
  readonly ownerId: string;
  readonly runnableId: string;
  readonly attempt: number;
  /** How many waits it has had. */
  readonly waits: number;
  /** How often its lease has expired. */
  readonly rescues: number;
  readonly startedAtMs: number | null;
  /** Its owner cancelled it while it was running. */
  readonly isStopped: boolean;
  /** An order for its next wait that came before the wait began. */
  readonly early: EarlyOrder | null;
  /** Set for an expired run that is a hook of a source change which another process finishes. */
  readonly isAbandonedHook: boolean;
  /** Returns the emission that it runs for. */
  readEmission(): Emission;
  /** Ends the run. */
  end(ending: RunEnding): void;
  queueAgain(again: RunAgain): void;
  beginWait(begun: BegunWait): void;
  /** Keeps the answer for repeats of the request, and for a caller that waits at another process. */
  keepAnswer(answer: HttpAnswer): void;
}

/** How a run ends. Its start time is kept. */
export interface RunEnding {
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly attempt: number;
  readonly endedAtMs: number;
  readonly error: RunError | null;
  /** Null: the last segment has reported nothing; earlier reports are kept. */
  readonly reported: Pick<RunEnd, 'summary' | 'detail'> | null;
}

export interface RunAgain {
  readonly attempt: number;
  readonly startedAtMs: number | null;
  /** The run has a process of its own from now on. */
  readonly isAlone: boolean;
  /** The lease had expired: the rescue is counted, and a result under that lease is refused. */
  readonly isRescued: boolean;
}

/** A wait that begins; `queued`: an early order has ended it already. */
export interface BegunWait {
  readonly state: 'waiting' | 'queued';
  readonly attempt: number;
  readonly wait: WaitStart;
  /** JSON text of the request that ended the wait. */
  readonly resumed: string | null;
  readonly reported: Pick<RunEnd, 'summary' | 'detail'>;
}

/** A delivery as it is inserted: `sending` (its slot is taken), `pending`, or `held` (its webhook is disabled). */
export interface NewDelivery {
  readonly delivery: number;
  readonly kind: ClaimedDelivery['kind'];
  readonly emission: Emission;
  readonly listenerId: string;
  readonly subscriptionId: string | null;
  readonly via: Via;
  readonly state: 'sending' | 'pending' | 'held';
}

/** The runs of one workflow or source. */
export interface RunQueue {
  /** Runs that wait to be claimed, less those that this transaction has claimed. */
  readonly waiting: number;
  /** Returns how many runs the throttle lets begin now; Infinity: there is no throttle. */
  room(runnable: Runnable): number;
  /** Returns whether the concurrency over all processes allows one more run. `takeRun` judges the slots of this process. */
  hasSlot(runnable: Runnable, besideHooks: boolean): boolean;
  /** Counts a change of a run's state, here and in the ledger; `from` null: the run is new. */
  moved(from: RunState | null, to: RunState): void;
  /** Counts a start against the throttle. */
  began(runnable: Runnable, startedAtMs: number): void;
  /** Claims the oldest run that waits. Its slot is already taken. */
  claimOldest(runnable: Runnable): void;
}

/** The deliveries of one webhook, of the owner's mail, or of the requests to one place. */
export interface DeliveryQueue extends QueueState {
  /** Whether this process may send to the listener: no other one sends to it or counts its requests. */
  readonly isOurs: boolean;
  /** Counts a change of a delivery's state, here and in the ledger; `from` null: the delivery is new. */
  moved(from: DeliveryState | null, to: DeliveryState): void;
  /** Wakes the claims of deliveries, if a delivery that waits may be claimed. */
  announceWaiting(isOrdered: boolean): void;
}
