// What nodes that share a store tell each other. Same promises as store.ts.

import type { Fault, HttpAnswer, RunLease, RunState } from '../../domain/run/run.ts';
import type { Wait } from '../../domain/run/wait.ts';
import type { Wake } from '../../ports.ts';

/** What became of a run that a caller waits for. */
export interface Awaited {
  readonly run: number;
  /** What it has answered so far. */
  readonly answer: HttpAnswer | null;
  /** Null while it is not over. */
  readonly ended: { readonly state: RunState; readonly fault: Fault | null } | null;
  /** Set while its state is `waiting`, and only then: the caller may have to be answered before its end. */
  readonly waiting: Wait | null;
}

export interface Beat {
  /** Runs leased to this node that another node was asked to cancel. */
  readonly cancel: readonly number[];
  /** Leases have expired: call `rescue`. */
  readonly isRescueDue: boolean;
}

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
