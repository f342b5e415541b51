// A waiting run: why and until when it waits, and its checkpoint. It occupies no process and no slot meanwhile, and
// continues behind the steps that are done, with the deployment that it began with.
//
//   running ──$.flow, or a failed attempt that is tried again──▶ waiting ──due, or resumed──▶ queued ──▶ running
//                                                                   └──cancelled, or a suspension without a resume──▶ cancelled

import type { LogLine, StepResult } from './step-result.ts';

/**
 * `delay`: the next step begins when the wait is due. `suspend`: the run is cancelled when the wait is due, unless it was
 * resumed before. `rerun`: the same step is executed again. `retry`: the failed step is executed again; callers cannot resume it.
 */
export const WAIT_KINDS = ['delay', 'suspend', 'rerun', 'retry'] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/** The wait that a step asked for; begins when the step has ended. */
export interface WaitAsked {
  readonly kind: Exclude<WaitKind, 'retry'>;
  readonly ms: number;
  /** Of `rerun`: JSON text that is passed to the next execution; null: nothing. */
  readonly context: string | null;
}

/** Stored with the run, as JSON text, while it waits and until it is over. */
export interface Checkpoint {
  /** Waits of this run so far, including this one: each has a resume address of its own. */
  readonly waits: number;
  readonly kind: WaitKind;
  /** Steps that are done, in order; the next step is behind them. */
  readonly steps: readonly StepResult[];
  readonly logs: readonly LogLine[];
  readonly logBytesDropped: number;
  readonly summary: string | null;
  /** Failed attempts that were tried again. */
  readonly retries: number;
  /** Of a step that `$.flow.rerun` executes again; null: the next step is executed for the first time. */
  readonly reruns: Reruns | null;
  /** With kind `retry`: JSON text of the request that ended the wait right before the failed step, for its retry. */
  readonly callback: string | null;
}

/** A wait as shown. */
export interface Wait {
  readonly kind: WaitKind;
  readonly dueAtMs: number;
}

export interface Reruns {
  /** How often the step was executed. */
  readonly runs: number;
  /** JSON text that the last execution passed on; null: nothing. */
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

/** What a resumed run gets of its earlier segments. */
export interface EarlierSegments {
  readonly steps: readonly StepResult[];
  readonly waits: number;
  readonly reruns: Reruns | null;
  /** JSON text of the request that ended the wait, in the shape of an HTTP trigger's event; null: the wait was over in time. */
  readonly callback: string | null;
  /** Log bytes stored so far. */
  readonly logBytes: number;
}

/** An order for a run that was given before its wait began. */
export interface EarlyOrder {
  readonly order: 'resume' | 'cancel';
  /** JSON text of the request that gave the order. */
  readonly request: string | null;
}

/** Returns the order that applies when a wait begins: a retry cannot be resumed. */
export function orderFor({ kind }: WaitStart, early: EarlyOrder | null): EarlyOrder | null {
  return kind === 'retry' && early?.order === 'resume' ? null : early;
}
