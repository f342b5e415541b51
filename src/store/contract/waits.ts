// Runs that wait, until their wait is due or a request to their address ends it. Same promises as store.ts.

import type { RunState } from '../../domain/run/run.ts';

/** A wait of a run, from 1. */
export interface WaitOf {
  readonly run: number;
  readonly waits: number;
}

/** What a resume or cancel address, or the owner who ends a wait, is checked against. */
export interface WaitingRun {
  readonly ownerId: string;
  readonly runnableId: string;
  readonly deploymentId: string;
  readonly state: RunState;
  /** The wait that it is in, or was in last, from 1; 0: it has not waited, or is over. */
  readonly waits: number;
}

export interface WaitStore {
  /**
   * Ends at most `limit` waits that are due, the longest due first: a suspended run is cancelled, others are queued again and
   * claimed like all queued runs, oldest number first. `cancelled`: numbers of the cancelled runs. `isMore`: others may be due.
   */
  endWaits(
    limit: number,
  ): Promise<{ readonly queued: number; readonly cancelled: readonly number[]; readonly isMore: boolean }>;
  /** Reads a run without its owner: the caller checks the run's address, or the owner. */
  waitingRun(run: number): Promise<WaitingRun | undefined>;
  /**
   * Ends a wait by request: the run is queued with `request` (JSON text) as its `resumed`, or cancelled. An order may come
   * before the run has begun that wait (the run is running, or queued again after a rescue): it is kept until then, and the
   * first one counts. `over`: the wait was ended or ordered before, cannot be resumed (a retry), or the run is over.
   * Undefined: no such run. Every claim up to the next wait has `resumed`, so that a repeated segment has it again.
   */
  resumeRun(of: WaitOf, order: 'resume' | 'cancel', request: string | null): Promise<'taken' | 'over' | undefined>;
}
