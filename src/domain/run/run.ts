// A run: one execution of a workflow or source for one emission.

import type { Emission } from '../emission.ts';
import type { Runnable, Via } from '../resource.ts';
import type { LogLine, StepResult } from './step-result.ts';
import type { WaitAsked } from './wait.ts';

export const RUN_STATES = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;
export type RunState = (typeof RUN_STATES)[number];

export function isOver(state: RunState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'cancelled';
}

/** The lease of a run. Results under an expired lease are refused. */
export interface RunLease {
  readonly run: number;
  /** Increases with every claim; the fencing token. */
  readonly fence: number;
}

/** A run leased to this node, which must execute or release it. */
export interface ClaimedRun extends RunLease {
  readonly runnable: Runnable;
  readonly emission: Emission;
  readonly via: Via;
  readonly subscriptionId: string | null;
  /** From 1. */
  readonly attempt: number;
  /** Its last process died while it executed other runs, too: the run needs a process to itself, so that the guilty run shows. */
  readonly alone: boolean;
  /** A caller at another node waits for the answer. */
  readonly isAwaitedElsewhere: boolean;
  /** JSON text of Checkpoint (wait.ts), of a run that has waited or continues a failed one; null: it begins at its first step. */
  readonly checkpoint: string | null;
  /** JSON text of the request that ended the wait; null: the wait was over in time, or there was none. */
  readonly resumed: string | null;
}

/** An error of user code, captured safely: limited, valid Unicode, without a reference to the thrown value. */
export interface Fault {
  readonly code: string;
  readonly msg: string;
  /** `c_…`; the first step's when the run failed before any step began. */
  readonly cellId: string;
  readonly namespace: string;
  readonly tsMs: number;
  /** Frame lines only, source-mapped, without Errand's own; may be empty. */
  readonly stack: string;
}

/** An emission that user code asked for; takes effect with the run's end, also when the run fails later. */
export interface Outgoing {
  /** `trigger`: routed to one workflow alone. `http`: a request to be made. */
  readonly kind: 'emit' | 'email' | 'trigger' | 'http';
  /** Channel for `emit`, empty for the default one; the workflow's id for `trigger`. */
  readonly name: string;
  /** JSON text in UTF-8. For `email`: `{subject, text, html?}`. For `http`: `{method, url, headers, body?}`. */
  readonly body: Uint8Array;
  readonly summary: string | null;
  readonly itemId: string | null;
  readonly itemTs: number | null;
  /** Epoch milliseconds of the emission. Sources only. */
  readonly deliverAtMs?: number;
  /** The code has verified the event's sender. Sources only. */
  readonly isVerified?: boolean;
}

/** The argument of `$.respond` (or of a source's `this.http.respond`). */
export interface HttpAnswer {
  readonly status: number;
  /** A list: one header per value, since cookies cannot be joined by commas. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

/** The result of executing a run: a value, also for every failure. */
export interface RunOutcome {
  readonly end:
    | { readonly kind: 'succeeded'; readonly exitReason?: string }
    /** The step executed last asked for a wait. The outgoing of this segment takes effect now, not at the end of the run. */
    | { readonly kind: 'waiting'; readonly wait: WaitAsked }
    | { readonly kind: 'failed'; readonly fault: Fault }
    /** The process died while it executed several runs, and the cause is unknown: the run is executed again, alone. */
    | { readonly kind: 'unattributed' }
    /** Cancelled by request, or released at shutdown before it began: no attempt was made. */
    | { readonly kind: 'cancelled' }
    | { readonly kind: 'returned' };
  readonly steps: readonly StepResult[];
  readonly logs: readonly LogLine[];
  /** Log bytes beyond the limit, counted instead of kept. */
  readonly logBytesDropped: number;
  readonly outgoing: readonly Outgoing[];
  /** Of a failed run: how many of them belong to successful steps. The rest is sent again by the retry. */
  readonly outgoingOfDone: number;
  /** Given without `immediate`: sent when the run's end is durable. */
  readonly answer: HttpAnswer | null;
  /** `$summary` export, shown in lists. */
  readonly summary: string | null;
  /**
   * `db.set` of a source, or of the steps that have succeeded: name → JSON text, or null to clear. Commits with the
   * emissions; dropped when a source's run failed.
   */
  readonly dbWrites: Readonly<Record<string, string | null>>;
}

export const NO_OUTCOME = {
  steps: [],
  logs: [],
  logBytesDropped: 0,
  outgoing: [],
  outgoingOfDone: 0,
  answer: null,
  summary: null,
  dbWrites: {},
} as const;
