// Operations that take many steps: resending a webhook's deliveries, replaying errors. Same promises as store.ts.

import type { Emission, NewEmission } from '../../domain/emission.ts';
import type { ErrorGroup } from '../../domain/errors/group.ts';
import type { Replay } from '../../domain/errors/replay.ts';
import type { ReplayOrder, ReplayOutcome } from '../../domain/errors/replaying.ts';
import type {
  NewOperation,
  NewReplay,
  Operation,
  OperationKind,
  OperationOrder,
  ResendableState,
} from '../../domain/operation.ts';
import type { Continuation } from '../../domain/run/failed-step.ts';
import type { DeliveryRecord, Page, PageQuery } from './records.ts';

export interface OperationQuery {
  readonly ownerId: string;
  readonly webhookId?: string;
  readonly kind?: OperationKind;
}

/** What a dry run of a resend tells. */
export interface ResendPreview {
  /** Deliveries found; each state is counted up to LIMITS.countedRecords. */
  readonly count: number;
  /** There are more than were counted. */
  readonly isAtLeast: boolean;
  readonly byState: ReadonlyMap<ResendableState, number>;
  /** The oldest, at most LIMITS.replaySample. */
  readonly sample: readonly DeliveryRecord[];
}

/** What became of one error of a replay operation. */
export interface ReplayResult {
  readonly entry: number;
  /** What failed; null: there is no such error. */
  readonly emitterId: string | null;
  /** The replay's run; also when it was made before, or by something else. */
  readonly run: number | null;
  readonly outcome: ReplayOutcome;
  /** Why it was not replayed, or what else had replayed it; null: the operation has. */
  readonly reason: string | null;
  /** The error that the replay ended in. */
  readonly errorEntry: number | null;
}

export interface ReplayResultQuery {
  readonly ownerId: string;
  readonly operationId: string;
  readonly outcome?: ReplayOutcome;
}

/** The selection of a replay operation, as it is now. */
export interface ReplayPreview {
  /** Errors found, up to LIMITS.countedRecords. */
  readonly count: number;
  /** There are more than were counted, or not of all it is known what becomes of them. */
  readonly isAtLeast: boolean;
  /** Of those, by what they are of, the errors that would be replayed now if that is still there. */
  readonly toReplay: ReadonlyMap<string, number>;
  readonly passedOver: readonly PassedOver[];
  /** Of those, by workflow, source or webhook; errors that are not there have none. */
  readonly byEmitter: ReadonlyMap<string, number>;
  /** The first LIMITS.replaySample. */
  readonly sample: readonly PreviewedError[];
}

/** Errors that an operation would make no replay of. */
export interface PassedOver {
  readonly outcome: Extract<ReplayOutcome, 'under_way' | 'not_replayed' | 'replayed_before'>;
  readonly reason: string;
  readonly count: number;
}

/** An error that an operation has come to. */
export interface ReplayCandidate {
  readonly entry: number;
  /** Null: there is no such error of the owner; retention may have deleted it. */
  readonly error: Emission | null;
}

/** An error of a preview. */
export interface PreviewedError extends ReplayCandidate {
  /** The newest replay of it, or retry of its run, that was not cancelled. */
  readonly before: Replay | null;
}

/** What a dry run tells. */
export interface DryRun extends Omit<ReplayPreview, 'sample' | 'toReplay'> {
  /** Errors that would be replayed now. */
  readonly toReplay: number;
  readonly sample: readonly (PreviewedError & {
    /** Why it would not be replayed; null: it would. */
    readonly reason: string | null;
  })[];
}

/** The errors that come next in an operation. */
export interface ReplayWork {
  readonly operation: Operation;
  /** Its cursor when they were read. */
  readonly after: number;
  /** The last error that was looked at; not all are meant. */
  readonly through: number;
  readonly candidates: readonly (ReplayCandidate | ReplayedError)[];
  /** None is left behind them. */
  readonly isLast: boolean;
}

/** An error that an operation leaves because a replay of it has ended. Its event is not read. */
export interface ReplayedError {
  readonly entry: number;
  readonly emitterId: string | null;
  readonly groupId: string | null;
  /** The run that it is of, by which its replays are found. */
  readonly causeRun: number;
}

/** With what a replay goes on, and the deployment whose steps that is for. */
export interface GoingOn extends Continuation {
  readonly deploymentId: string;
}

/** What is to become of one error: a replay, unless there is one already, or nothing. */
export type ReplayChoice =
  | ReplayedError
  | ({ readonly entry: number; readonly emitterId: string | null } & (
      | {
          readonly emission: NewEmission;
          readonly groupId: string | null;
          /** The run goes on from a step; null: it runs all of them. */
          readonly goesOn: GoingOn | null;
        }
      | { readonly reason: string }
    ));

export interface ReplayStep {
  readonly operationId: string;
  readonly ownerId: string;
  /** The cursor behind which these errors come. */
  readonly after: number;
  /** The cursor behind all of them. */
  readonly through: number;
  /** In the order of their entries. */
  readonly choices: readonly ReplayChoice[];
  readonly isLast: boolean;
}

export interface Stepped {
  readonly isResent: boolean;
  readonly isMore: boolean;
  /** A group of errors was resolved: a notice of it may be due. */
  readonly isResolved?: boolean;
}

export interface OperationStore {
  /** Returns false when the webhook is gone. */
  createOperation(operation: NewOperation): Promise<boolean>;
  /** Creates an operation for the errors that there are now; what fails later is not among them. */
  createReplay(replay: NewReplay): Promise<Operation>;
  getOperation(ownerId: string, id: string): Promise<Operation | undefined>;
  listOperations(of: OperationQuery, page: PageQuery): Promise<Page<Operation>>;
  /** Returns what became of the errors of a replay operation. */
  listReplayResults(of: ReplayResultQuery, page: PageQuery<number>): Promise<Page<ReplayResult>>;
  /** Pauses, resumes or cancels. `refused`: the operation is over. Repeating an order is no error. Undefined: no such operation. */
  orderOperation(
    ownerId: string,
    id: string,
    order: OperationOrder,
  ): Promise<{ readonly operation: Operation; readonly refused: boolean } | undefined>;
  /**
   * Takes one step of one operation, round robin over all of them: counts, makes due, or notes the ends of replays, at most
   * LIMITS.operationStep at a time, and writes its progress in the same transaction. `isResent`: deliveries are due. `isMore`:
   * another step may follow at once; else all operations wait for deliveries or runs under way or for a webhook to be enabled,
   * or are over. Ends of replays are noted also when the operation is paused or cancelled.
   */
  stepOperation(): Promise<Stepped>;
  /** Returns what an operation would do now. Looks at LIMITS.countedRecords errors, and reads a bounded part of their events. */
  previewReplay(ownerId: string, order: Pick<ReplayOrder, 'selection' | 'isAgain'>): Promise<ReplayPreview>;
  /**
   * Returns how many errors of a group there are that have a run, up to its `lastEntry`, and of how many of them the event has come through
   * since: by its newest replay or retry, or by that of the error that it ended in. Null: there are more than
   * NOTICE_LIMITS.replaysCounted.
   */
  countReplayed(
    group: Pick<ErrorGroup, 'id' | 'ownerId' | 'lastEntry'>,
  ): Promise<{ readonly succeeded: number; readonly of: number } | null>;
  /** Returns the errors that come next in an operation that may make replays now; else when the first one may; null: none knows. */
  nextReplays(): Promise<ReplayWork | { readonly dueAtMs: number | null }>;
}
