// Runs that wait, and what ends their waits: the time, or a request to their address. Same promises as store.ts.

import type { RunState } from '../../domain/run/run.ts';

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

export interface WaitStore {
  /**
   * Ends waits that are due: a suspended run is cancelled, all others are queued again. At most `limit`, the longest due
   * first. What is queued is claimed with all others, oldest number first. `cancelled`: numbers of the runs that are over
   * now. `isMore`: there may be others that are due.
   */
  endWaits(
    limit: number,
  ): Promise<{ readonly queued: number; readonly cancelled: readonly number[]; readonly isMore: boolean }>;
  /** Not bound to an owner: the request has the run's address, which the caller of this has checked. */
  waitingRun(run: number): Promise<WaitingRun | undefined>;
  /**
   * Ends a wait by request: the run is queued with `request` (JSON text) as its `resumed`, or cancelled. Also before the
   * run has begun that wait (it is running, or queued again since its process was lost, and has had one wait less): the order
   * is kept, and holds when it begins it; the first order counts. `over`: it was ended or ordered before, is not resumable
   * (a retry), or the run is over. Undefined: no such run.
   * `resumed` is given with every claim up to the next wait, so that a segment that is executed again has it again.
   */
  resumeRun(of: WaitOf, order: 'resume' | 'cancel', request: string | null): Promise<'taken' | 'over' | undefined>;
}
