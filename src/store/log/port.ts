// What one verb reads and writes of the log within its transaction. The decisions (who runs, what the end of a run leads
// to, what is rescued) are written once, beside this file, on top of these interfaces; a backend only reads and writes.
//
// Everything here is synchronous. SQLite executes each statement where it is called. Postgres cannot read in the middle: it
// reads and locks first what its verbs declare (`needs`), plans all of them in memory, and sends the planned rows with one
// statement per table; a plan that misses something is thrown away, and made again when that was read. A decision must
// therefore be repeatable: it changes nothing but what it reaches through its LogWriter.

import type { ClaimedDelivery, DeliveryState } from '../../domain/delivery/delivery.ts';
import type { DigestWindow } from '../../domain/delivery/digest.ts';
import type { Emission, NewEmission } from '../../domain/emission.ts';
import type { Dedupe, Owner, Runnable, Via, Webhook } from '../../domain/resource.ts';
import type { RouteTable, Withheld } from '../../domain/route.ts';
import type { ClaimedRun, HttpAnswer, RunLease, RunState } from '../../domain/run/run.ts';
import type { RunEnd } from '../../domain/run/run-end.ts';
import type { EarlyOrder, WaitStart } from '../../domain/run/wait.ts';
import type { AppendOptions, Claims, Idempotency, Tick } from '../contract/store.ts';

/** What a verb has claimed for this process. Filled until the transaction is committed. */
export interface ClaimsSoFar extends Claims {
  readonly runs: ClaimedRun[];
  readonly deliveries: ClaimedDelivery[];
  runsWaiting: boolean;
  deliveriesWaiting: boolean;
}

export function noClaims(): ClaimsSoFar {
  return { runs: [], deliveries: [], runsWaiting: false, deliveriesWaiting: false };
}

/** One verb's view of its transaction. What it writes, it and the verbs behind it in the same transaction see. */
export interface LogWriter extends KeyStore, DigestStore, LaterStore, SourceMemory {
  readonly nowMs: number;
  /** Begins every emit id of this store. */
  readonly storeTag: string;
  readonly claims: ClaimsSoFar;

  /** Returns the next number of the log, for an emission, a run or a delivery. */
  nextNumber(): number;

  owner(ownerId: string): Owner | undefined;
  runnable(ownerId: string, id: string): Runnable | undefined;
  routeTable(made: NewEmission): RouteTable;

  /** Changes a figure of the owner's ledger, e.g. `emissions`. Runs and deliveries are counted by their queues. */
  count(ownerId: string, fact: string, by: number): void;

  insertEmission(emission: Emission): void;
  insertWithheld(entry: number, withheld: Withheld): void;
  insertRun(run: NewRun): void;
  insertDelivery(delivery: NewDelivery): void;

  runQueue(ownerId: string, runnableId: string): RunQueue;
  deliveryQueue(ownerId: string, listenerId: string): DeliveryQueue;

  /** Returns the run while it runs under this lease. A verb that gets a run moves it out of its state, once. */
  leasedRun(lease: RunLease): LeasedRun | undefined;
  /** Returns runs whose lease has expired, or whose process is gone. */
  expiredRuns(): readonly LeasedRun[];

  /**
   * Sets a trigger to its next tick. Returns whether this one is to be emitted: it is the trigger's next one, and none was
   * emitted for that time before. A source's tick is counted as skipped instead while the run of the one before is not over.
   */
  takeTick(tick: Tick): boolean;

  /** Takes a slot of this process for a run. It is given back if the transaction does not commit. */
  takeRun(runnable: Runnable, besideHooks?: boolean): boolean;
  /** The same for a delivery. `webhook` is null for the owner's mail, and for requests that code asked for. */
  takeDelivery(listenerId: string, webhook: Webhook | null): boolean;

  /** Wakes the other processes that share the store, once the transaction is committed. */
  wakeOthers(topic: 'runs' | 'deliveries' | 'answers'): void;
}

/** Idempotency keys. */
export interface KeyStore {
  /** Returns what the first request with this key came to; undefined: this one is the first. */
  findKey(key: Idempotency): KeptKey | undefined;
  keepKey(key: Idempotency, first: { readonly entry: number; readonly run: number | null }): void;
}

export interface KeptKey {
  readonly entry: number;
  readonly run: number | null;
  readonly answer: HttpAnswer | null;
  readonly requestHash: string | null;
}

/** Windows in which repeats of a notice are counted. */
export interface DigestStore {
  /** Returns the window that is open; null: none is. */
  digestWindow(ownerId: string, digestKey: string): DigestWindow | null;
  openDigest(digest: OpenedDigest): void;
  countInDigest(ownerId: string, digestKey: string, newestEntry: number): void;
  /** Returns windows that are over, some at a time. */
  closedDigests(): readonly ClosedDigest[];
  endDigest(ownerId: string, digestKey: string): void;
}

export interface OpenedDigest {
  readonly ownerId: string;
  readonly digestKey: string;
  readonly openedAtMs: number;
  readonly closesAtMs: number;
  /** The newest mail: the digest is made of it. */
  readonly newestEntry: number;
}

export interface ClosedDigest {
  readonly ownerId: string;
  readonly digestKey: string;
  readonly window: DigestWindow;
  /** Null: it was pruned. */
  readonly newest: Emission | null;
}

/** Emissions that wait for their time. */
export interface LaterStore {
  insertLater(made: NewEmission, dueAtMs: number): void;
  /** Takes out those that are due, the longest due first: at most `LIMITS.laterStep`. */
  takeDueLater(): readonly Emission[];
}

export interface SourceMemory {
  /** Returns how a source's emissions are deduplicated; null: they are not, undefined: it is gone. */
  dedupeOf(sourceId: string): Dedupe | null | undefined;
  /** `value`: JSON text; null clears it. */
  setSourceValue(sourceId: string, name: string, value: string | null): void;
  /** Returns the ids of items, the newest last. */
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
  /** A caller at this process waits for it. */
  readonly isAwaited: boolean;
  readonly continuation: AppendOptions['continuation'];
  readonly error: RunError | null;
}

/** The `$errors` emission of a failed run. */
export interface RunError {
  readonly entry: number | null;
  readonly code: string;
}

/** A run that is running: under a lease of this process, or under one that has expired. It leaves that state once. */
export interface LeasedRun {
  readonly run: number;
  readonly ownerId: string;
  readonly runnableId: string;
  readonly attempt: number;
  /** Waits that it has had. */
  readonly waits: number;
  /** How often its lease has expired. */
  readonly rescues: number;
  readonly startedAtMs: number | null;
  /** Its owner has cancelled it while it was running. */
  readonly isStopped: boolean;
  /** The order that came for its next wait before that began. */
  readonly early: EarlyOrder | null;
  /** Of an expired one: it is a hook of a source change that another process finishes. */
  readonly isAbandonedHook: boolean;
  /** Returns what it was started for. */
  readEmission(): Emission;
  /** The run is over. */
  end(ending: RunEnding): void;
  queueAgain(again: RunAgain): void;
  beginWait(begun: BegunWait): void;
  /** Keeps the answer for repeats of the request, and for a caller who waits at another process. */
  keepAnswer(answer: HttpAnswer): void;
}

/** However it ended, a run keeps when it began. */
export interface RunEnding {
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly attempt: number;
  readonly endedAtMs: number;
  readonly error: RunError | null;
  /** Null: its last segment has reported nothing; what it reported before is kept. */
  readonly reported: Pick<RunEnd, 'summary' | 'detail'> | null;
}

export interface RunAgain {
  readonly attempt: number;
  readonly startedAtMs: number | null;
  /** In a process to itself from now on. */
  readonly isAlone: boolean;
  /** Its lease had expired: that is counted, and a result under that lease is refused. */
  readonly isRescued: boolean;
}

/** A wait begins; `queued`: it was ended before by an order that came early. */
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
  /** Runs that wait to be claimed, without those that this transaction has claimed. */
  readonly waiting: number;
  /** How many may begin now, as far as its throttle goes; Infinity: it has none. */
  room(runnable: Runnable): number;
  /** Whether one more may run, as far as its concurrency over all processes goes. Slots of this process are `takeRun`'s. */
  hasSlot(runnable: Runnable, besideHooks: boolean): boolean;
  /** Counts a run that leaves one state for another, here and in the ledger; null: the run is new. */
  moved(from: RunState | null, to: RunState): void;
  /** Counts a start against the throttle. */
  began(runnable: Runnable, startedAtMs: number): void;
  /** Claims the oldest run that waits; its slot is taken. */
  claimOldest(runnable: Runnable): void;
}

/** The deliveries of one webhook, of the owner's mail, or of the requests to one place. */
export interface DeliveryQueue {
  /** Whether deliveries to this webhook are held. */
  isHeld(webhook: Webhook): boolean;
  /** Whether a new delivery may go before it has waited: nothing is overtaken, and the listener is not paused. */
  mayGoAtOnce(isOrdered: boolean): boolean;
  /** Counts a delivery that leaves one state for another, here and in the ledger; null: the delivery is new. */
  moved(from: DeliveryState | null, to: DeliveryState): void;
  /** Tells the ticks that a delivery waits, where there is something for them to do. */
  announceWaiting(isOrdered: boolean): void;
}
