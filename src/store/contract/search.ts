// The searches of all errors and all runs of an owner. What is looked at is read along an index of the owner's records; a
// request looks at so many records and reads so many bytes, and says how far it came.

import type { ErrorFilter } from '../../domain/error-filter.ts';
import type { Replay } from '../../domain/errors/replay.ts';
import type { EndedOutcome } from '../../domain/errors/replaying.ts';
import type { Told } from '../../domain/errors/told.ts';
import type { RunState } from '../../domain/run/run.ts';
import type { EmissionRecord, ListedRun, PageQuery } from './records.ts';

/** Newest first, as every list. */
export interface SearchPage<T> {
  readonly items: readonly T[];
  /**
   * All records that match, regardless of the cursor: counted among the newest LIMITS.countedRecords in the range of time. Null
   * when it would take another search to know.
   */
  readonly totalCount: number | null;
  /** The cursor from which the search goes on, in the direction of this page; null: it has come to the end. */
  readonly next: number | null;
  /** Records that this page looked at. */
  readonly lookedAt: number;
}

export interface ErrorSearch extends ErrorFilter {
  readonly ownerId: string;
  /** Only errors that a listener was told of (true), that none was told of (false), or in one state. */
  readonly told?: boolean | Told;
  /** Only errors of which there is a replay or retry, or none. */
  readonly replayed?: boolean;
}

/** A replay or retry as its error shows it. */
export interface ErrorReplay extends Replay {
  readonly endedAtMs: number | null;
  /** What it has come to; of one that is not over `under_way`, of one with another event null. */
  readonly outcome: EndedOutcome | 'under_way' | null;
  /** The error that it ended in. */
  readonly errorEntry: number | null;
}

/** What became of an error. */
export interface ErrorOutcome {
  /** Newest first. */
  readonly replays: readonly ErrorReplay[];
  readonly told: Told;
  /** The run that failed; null: none did. */
  readonly causeRun: number | null;
  /** The delivery that was given up; null: none was. */
  readonly causeDelivery: number | null;
  /** The record of that run is there: retention may delete it before the error. */
  readonly isRunRetained: boolean;
}

/** An error with what became of it. */
export interface FoundError {
  readonly emission: EmissionRecord;
  readonly causeRun: number | null;
  readonly causeDelivery: number | null;
  readonly error: {
    readonly msg: string;
    readonly cellId: string;
    readonly namespace: string;
    readonly ts: string;
  };
  readonly workflowName: string | null;
  readonly deploymentId: string | null;
  readonly told: Told;
  /** The newest. */
  readonly replay: ErrorReplay | null;
  /** As in `ErrorOutcome`. */
  readonly isRunRetained: boolean;
}

/** All that are given apply. */
export interface RunSearch {
  readonly ownerId: string;
  /** A workflow or source. */
  readonly runnableId?: string;
  readonly state?: RunState;
  readonly errorCode?: string;
  /** A part of its summary or of its event's JSON text. */
  readonly text?: string;
  /** What is shown of a summary and of an event: the text is looked for in that. */
  readonly shown?: { text(given: string): string; json(body: Uint8Array): Uint8Array };
  /** Created from then on, and before then. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

export interface SearchStore {
  searchErrors(search: ErrorSearch, page: PageQuery<number>, withBody: boolean): Promise<SearchPage<FoundError>>;
  searchRuns(search: RunSearch, page: PageQuery<number>): Promise<SearchPage<ListedRun>>;
  /** Returns the newest replays of an error and retries of its run, newest first, and whether a listener was told of it. */
  outcomeOfError(ownerId: string, entry: number): Promise<ErrorOutcome>;
}
