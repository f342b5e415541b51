// A run that waits: why, until when, and what it has kept. It holds no process and no slot meanwhile, and goes on behind
// the steps that are done, with the deployment that it began with.
//
//   running ──$.flow, or a failed attempt that is tried again──▶ waiting ──due, or resumed──▶ queued ──▶ running
//                                                                   └──cancelled, or a suspension without a resume──▶ cancelled

import type { LogLine, StepResult } from './step-result.ts';

/**
 * `delay`: goes on with the next step when it is due. `suspend`: is cancelled when it is due, unless it is resumed
 * before. `rerun`: the same step is executed again. `retry`: so is the step that failed; it cannot be resumed from outside.
 */
export type WaitKind = 'delay' | 'suspend' | 'rerun' | 'retry';

export const WAIT_KINDS: readonly WaitKind[] = ['delay', 'suspend', 'rerun', 'retry'];

/** What a step asked for; acts when the step has ended. */
export interface WaitAsked {
  readonly kind: Exclude<WaitKind, 'retry'>;
  readonly ms: number;
  /** Of `rerun`: JSON text of what is passed on to the next execution; null: nothing. */
  readonly context: string | null;
}

/** Kept with the run, as JSON text, while it waits and until it is over. */
export interface Checkpoint {
  /** Waits of this run so far, this one included: each has a resume address of its own. */
  readonly waits: number;
  readonly kind: WaitKind;
  /** Steps that are done, in order; the next one to be executed is behind them. */
  readonly steps: readonly StepResult[];
  readonly logs: readonly LogLine[];
  readonly logBytesDropped: number;
  readonly summary: string | null;
  /** Failed attempts that were tried again. */
  readonly retries: number;
  /** Of a step that `$.flow.rerun` executes again; null: the next step is executed for the first time. */
  readonly reruns: Reruns | null;
  /** With kind `retry`: JSON text of the request that ended the wait right before the step that failed, which sees it again. */
  readonly callback: string | null;
}

/** How a wait is shown. */
export interface Wait {
  readonly kind: WaitKind;
  readonly dueAtMs: number;
}

export interface Reruns {
  /** How often the step was executed. */
  readonly runs: number;
  /** JSON text of what its last execution passed on; null: nothing. */
  readonly context: string | null;
}

/** What one transaction writes when a run begins to wait. */
export interface WaitStart {
  readonly kind: WaitKind;
  readonly dueAtMs: number;
  readonly waits: number;
  /** JSON text of Checkpoint. */
  readonly checkpoint: string;
}

/** What a run that goes on is given of what was before. */
export interface GoingOn {
  readonly steps: readonly StepResult[];
  readonly waits: number;
  readonly reruns: Reruns | null;
  /** JSON text of the request that ended the wait, in the shape of an HTTP trigger's event; null: time ended it. */
  readonly callback: string | null;
  /** Log bytes kept so far. */
  readonly logBytes: number;
}

/** What was ordered of a run before it began to wait. */
export interface EarlyOrder {
  readonly order: 'resume' | 'cancel';
  /** JSON text of the request that ordered it. */
  readonly request: string | null;
}

/** The order that counts when a wait begins: a retry cannot be resumed, since what was to go on has failed first. */
export function orderFor({ kind }: WaitStart, early: EarlyOrder | null): EarlyOrder | null {
  return kind === 'retry' && early?.order === 'resume' ? null : early;
}
