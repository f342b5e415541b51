// What the store tells of the log: emissions, runs, deliveries, who was told, and counts.

import type { Attempt, DeliveryKind, DeliveryState, DueBy } from '../../domain/delivery/delivery.ts';
import type { Via, Webhook } from '../../domain/resource.ts';
import type { RunState } from '../../domain/run/run.ts';
import type { Wait } from '../../domain/run/wait.ts';

/** Newest first; cursors are exclusive. `before` gives the records next to the cursor on its newer side. */
export interface PageQuery<Cursor = string> {
  readonly limit: number;
  readonly after?: Cursor;
  readonly before?: Cursor;
}

export interface Page<T> {
  /** Of all that match, whatever the cursor; counted up to LIMITS.countedRecords for runs and deliveries. */
  readonly totalCount: number;
  readonly items: readonly T[];
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
  /** Null unless asked for. */
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
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly summary: string | null;
  /** Entry of its `$errors` emission. */
  readonly errorEntry: number | null;
  readonly errorCode: string | null;
  /** Set while its state is `waiting`, and only then. */
  readonly waiting: Wait | null;
}

export interface RunWhole extends RunRecord {
  readonly event: Uint8Array;
  /** JSON text of RunEnd.detail; of a run that waits or goes on: of its last wait. */
  readonly detail: string | null;
  /** JSON text of the `error` object, cut out of its `$errors` emission. */
  readonly errorBody: Uint8Array | null;
  /** The run whose end emitted the event, if any. */
  readonly causedByRun: number | null;
  /** What the emission of the event says of itself, such as which error it replays. */
  readonly causeSummary: string | null;
  readonly causes: readonly Receipt[];
}

/** Who was told of an emission, and what became of it. */
export interface Receipt {
  readonly kind: 'run' | 'delivery' | 'mail' | 'withheld';
  /** Number of the run or delivery; null for what was withheld. */
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
  /** `wh_…`, `mail`, or that of a request (domain/delivery/http-request.ts). */
  readonly listenerId: string;
  readonly subscriptionId: string | null;
  readonly entry: number;
  readonly emitId: string;
  readonly emitterId: string;
  readonly eventName: string;
  readonly state: DeliveryState;
  /** Those that count. */
  readonly attemptsMade: number;
  readonly nextAttemptAtMs: number | null;
  readonly dueBy: DueBy;
  readonly endedAtMs: number | null;
}

/** What an open delivery to a webhook waits for. */
export interface Standing {
  readonly webhook: Webhook;
  /** Nothing goes to the webhook before then; null: it may. */
  readonly pausedUntilMs: number | null;
  /** Deliveries on their way to the webhook. */
  readonly sending: number;
  /** Deliveries that are due and come before it; counted up to LIMITS.countedRecords. */
  readonly ahead: number;
  /** Of an ordered webhook: the delivery at the head, when that is another one. */
  readonly head: number | null;
}

export interface DeliveryWhole {
  readonly record: DeliveryRecord;
  /** All requests that were made, also those that did not count. */
  readonly attempts: readonly AttemptRecord[];
  /** Null when it is over, for a mail or a request, and when its webhook is gone. */
  readonly standing: Standing | null;
  /** Of a request that waits: nothing goes to that place before then. */
  readonly pausedUntilMs?: number | null;
}

export interface AttemptRecord extends Attempt {
  /** Of the requests made, from 1. */
  readonly n: number;
  readonly trigger: string;
}

/** Counters that are changed in the transactions that change states: they outlive retention. */
export interface Ledger {
  readonly emissions: number;
  readonly runs: Readonly<Record<RunState, number>>;
  readonly deliveries: Readonly<Record<DeliveryState, number>>;
  readonly errors: number;
}
