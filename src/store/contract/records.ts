// What the store returns of the log: emissions, runs, deliveries, receipts and counts.

import type { Attempt, DeliveryKind, DeliveryState, DueBy } from '../../domain/delivery/delivery.ts';
import type { Via, Webhook } from '../../domain/resource.ts';
import type { RunState } from '../../domain/run/run.ts';
import type { Wait } from '../../domain/run/wait.ts';

/** Newest first; cursors are exclusive. `before`: the records next to the cursor on its newer side. */
export interface PageQuery<Cursor = string> {
  readonly limit: number;
  readonly after?: Cursor;
  readonly before?: Cursor;
}

export interface Page<T> {
  /** All records that match, regardless of the cursor; counted up to LIMITS.countedRecords for runs and deliveries. */
  readonly totalCount: number;
  readonly items: readonly T[];
}

export interface DeliveryQuery {
  readonly ownerId: string;
  readonly listenerId?: string;
  readonly kind?: DeliveryKind;
  readonly state?: DeliveryState;
  /** Only those of one emission. */
  readonly entry?: number;
  /** Only those accepted within this time; `untilMs` is the first moment after it. */
  readonly accepted?: { readonly sinceMs: number; readonly untilMs: number };
}

export interface EmissionRecord {
  readonly entry: number;
  readonly emitId: string;
  readonly emitterId: string;
  readonly name: string;
  readonly summary: string | null;
  readonly itemId: string | null;
  readonly itemTs: number | null;
  readonly code: string | null;
  /** Of an error: its group. */
  readonly groupId: string | null;
  /** As `ledBy` says. */
  readonly ledBy: readonly string[];
  /** Null unless requested. */
  readonly body: Uint8Array | null;
}

export interface RunRecord {
  readonly run: number;
  readonly runnableId: string;
  readonly deploymentId: string;
  readonly state: RunState;
  readonly attempt: number;
  readonly replay: boolean;
  readonly entry: number;
  readonly emitId: string;
  readonly emitterId: string;
  readonly eventName: string;
  /** Of its event, as `ledBy` says. */
  readonly ledBy: readonly string[];
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly summary: string | null;
  /** Entry of its `$errors` emission. */
  readonly errorEntry: number | null;
  readonly errorCode: string | null;
  /** Set only while its state is `waiting`. */
  readonly waiting: Wait | null;
}

/** A run as lists show it. */
export interface ListedRun extends RunRecord {
  /** The message of its error. */
  readonly errorMessage: string | null;
  /** The newest run that is a retry of it, or a replay of its error. */
  readonly retriedBy: number | null;
}

export interface RunWhole extends ListedRun {
  readonly event: Uint8Array;
  /** JSON text of RunEnd.detail; for a run that waits or goes on, of its last wait. */
  readonly detail: string | null;
  /** JSON text of the `error` object, cut out of its `$errors` emission. */
  readonly errorBody: Uint8Array | null;
  /** The run that emitted the event, if any. */
  readonly causedByRun: number | null;
  /** The summary of the event's emission, e.g. which error it replays. */
  readonly causeSummary: string | null;
  readonly causes: readonly Receipt[];
}

export const RECEIPT_KINDS = ['run', 'delivery', 'mail', 'withheld'] as const;

/** A run, delivery or withheld listener of an emission, with its state. */
export interface Receipt {
  readonly kind: (typeof RECEIPT_KINDS)[number];
  /** Number of the run or delivery; null: withheld. */
  readonly number: number | null;
  readonly listenerId: string;
  readonly subscriptionId: string | null;
  readonly via: Via;
  readonly state: RunState | DeliveryState | 'withheld';
  readonly reason: string | null;
}

export interface DeliveryRecord {
  readonly delivery: number;
  readonly kind: DeliveryKind;
  /** `wh_…`, `mail`, or the listener id of a request (domain/delivery/http-request.ts). */
  readonly listenerId: string;
  readonly subscriptionId: string | null;
  readonly entry: number;
  readonly emitId: string;
  readonly emitterId: string;
  readonly eventName: string;
  /** As `ledBy` says. */
  readonly ledBy: readonly string[];
  /** Of a mail and of a notice, as a mail: the beginning of its subject. Null for what is no mail. */
  readonly subject: string | null;
  readonly state: DeliveryState;
  /** Attempts that count. */
  readonly attemptsMade: number;
  readonly nextAttemptAtMs: number | null;
  readonly dueBy: DueBy;
  readonly endedAtMs: number | null;
  /** Why a mail that counts as delivered went to no mail server, as a sentence; null: it did, is not delivered yet, or is no mail. */
  readonly unsent: string | null;
}

/** What an open delivery to a webhook waits behind. */
export interface QueuePosition {
  readonly webhook: Webhook;
  /** The webhook is paused until then; null: it is not. */
  readonly pausedUntilMs: number | null;
  /** Deliveries under way to the webhook. */
  readonly sending: number;
  /** Due deliveries that are claimed first; counted up to LIMITS.countedRecords. */
  readonly ahead: number;
  /** For an ordered webhook: the delivery at the head of its queue, if that is another one. */
  readonly head: number | null;
}

export interface DeliveryWhole {
  readonly record: DeliveryRecord;
  /** All attempts, also those that do not count. */
  readonly attempts: readonly AttemptRecord[];
  /** Null: the delivery is over, is a mail or a request, or its webhook is gone. */
  readonly position: QueuePosition | null;
  /** For a request that waits: requests to its place are paused until then. */
  readonly pausedUntilMs?: number | null;
}

export interface AttemptRecord extends Attempt {
  /** The number of the request, from 1. */
  readonly n: number;
  readonly trigger: string;
}

/** Counters that transactions change together with states. Retention does not change them. */
export interface Ledger {
  readonly emissions: number;
  readonly runs: Readonly<Record<RunState, number>>;
  readonly deliveries: Readonly<Record<DeliveryState, number>>;
  readonly errors: number;
}
