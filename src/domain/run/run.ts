// A run: one execution of a workflow or source for one emission.

import type { Emission } from '../emission.ts';
import type { Runnable, Via } from '../resource.ts';
import type { LogLine, StepResult } from './step-result.ts';
import type { WaitAsked } from './wait.ts';

export type RunState = 'queued' | 'running' | 'waiting' | 'succeeded' | 'failed' | 'cancelled';

export const RUN_STATES: readonly RunState[] = ['queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'];

/** The lease under which a run is held. A result from a lost lease is refused. */
export interface RunLease {
  readonly run: number;
  /** Grows with every claim; the fencing token. */
  readonly fence: number;
}

/** A run that is leased to this node, which must execute it or hand it back. */
export interface ClaimedRun extends RunLease {
  readonly runnable: Runnable;
  readonly emission: Emission;
  readonly via: Via;
  readonly subscriptionId: string | null;
  /** From 1. */
  readonly attempt: number;
  /** Its last process died while others ran beside it: it must have a process to itself, so that the guilty one shows. */
  readonly alone: boolean;
  /** A caller at another node waits for its answer. */
  readonly isAwaitedElsewhere: boolean;
  /** JSON text of Checkpoint (wait.ts), of a run that has waited or goes on for a failed one; null: it begins at its first step. */
  readonly checkpoint: string | null;
  /** JSON text of the request that ended its wait; null: time did, or it has not waited. */
  readonly resumed: string | null;
}

/** What went wrong, captured safely: limited, valid Unicode, nothing of the thrown value itself. */
export interface Fault {
  readonly code: string;
  readonly msg: string;
  /** `c_…`; the first step's when the run failed before any step began. */
  readonly cellId: string;
  readonly namespace: string;
  readonly tsMs: number;
  /** Frame lines only, source-mapped, ours left out; may be empty. */
  readonly stack: string;
}

/** What user code asked to emit; takes effect with the run's end, also when the run fails after it. */
export interface Outgoing {
  /** `trigger`: one workflow alone hears it. `http`: a request to be made. */
  readonly kind: 'emit' | 'email' | 'trigger' | 'http';
  /** Channel for `emit`, empty for the default one; the workflow's id for `trigger`. */
  readonly name: string;
  /** JSON text in UTF-8. For `email`: `{subject, text, html?}`. For `http`: `{method, url, headers, body?}`. */
  readonly body: Uint8Array;
  readonly summary: string | null;
  readonly itemId: string | null;
  readonly itemTs: number | null;
  /** Epoch milliseconds: to be emitted then. Sources only. */
  readonly deliverAtMs?: number;
  /** The code has checked who sent the event. Sources only. */
  readonly isVerified?: boolean;
}

/** What `$.respond` (or a source's `this.http.respond`) was given. */
export interface HttpAnswer {
  readonly status: number;
  /** A list: one header for each, as cookies need, which no comma joins. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

/** The result of executing a run: a value, also for every failure. */
export interface RunOutcome {
  readonly end:
    | { readonly kind: 'succeeded'; readonly exitReason?: string }
    /** The last of its steps that was executed asked for it. Its outgoing takes effect now, not when the run is over. */
    | { readonly kind: 'waiting'; readonly wait: WaitAsked }
    | { readonly kind: 'failed'; readonly fault: Fault }
    /** The process died while other runs shared it and nothing says that this one was guilty: run it again, alone. */
    | { readonly kind: 'bystander' }
    /** Cancelled by request, or handed back at shutdown before it began: no attempt was made. */
    | { readonly kind: 'cancelled' }
    | { readonly kind: 'returned' };
  readonly steps: readonly StepResult[];
  readonly logs: readonly LogLine[];
  /** Log bytes beyond the limit, counted instead of kept. */
  readonly logBytesDropped: number;
  readonly outgoing: readonly Outgoing[];
  /** Of a failed run: how many of them are of steps that had succeeded. The rest is sent again when that step is tried again. */
  readonly outgoingOfDone: number;
  /** Given without `immediate`: goes out when the run's end is durable. */
  readonly answer: HttpAnswer | null;
  /** `$summary` export, shown in lists. */
  readonly summary: string | null;
  /** Sources: `db.set` of this run, name → JSON text or null to clear. Commits with the emissions; dropped when the run failed. */
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
