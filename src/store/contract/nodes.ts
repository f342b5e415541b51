// Messages between nodes that share a store. Same promises as store.ts.

import type { Fault, HttpAnswer, RunLease, RunState } from '../../domain/run/run.ts';
import type { Wait } from '../../domain/run/wait.ts';
import type { Wake } from '../../ports.ts';

/** The state of a run that a caller waits for. */
export interface Awaited {
  readonly run: number;
  /** Its answer so far. */
  readonly answer: HttpAnswer | null;
  /** Null while it is not over. */
  readonly ended: { readonly state: RunState; readonly fault: Fault | null } | null;
  /** Set only while its state is `waiting`: the caller may have to be answered before the run's end. */
  readonly waiting: Wait | null;
}

export interface Beat {
  /** Runs leased to this node that another node was asked to cancel. */
  readonly cancel: readonly number[];
  /** Leases have expired: call `rescue`. */
  readonly isRescueDue: boolean;
}

export interface NodeStore {
  /** Reports that this node is alive. Called every LIMITS.beatMs; a node that stops beating loses its leases. */
  beat(): Promise<Beat>;
  /** Stores an answer that a run gives before its end, for the node whose caller waits for it. */
  answerRun(lease: RunLease, answer: HttpAnswer): Promise<void>;
  /** Returns those of the runs with an answer, an end or a wait that another node has written. */
  awaited(runs: readonly number[]): Promise<readonly Awaited[]>;
  /** Calls `wake` when another node has made work, and when any node has emitted. A hint may be lost. */
  listen(wake: Wake): void;
}
