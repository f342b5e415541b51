// A run between `run()` and its outcome.

import { LIMITS } from '../../domain/limits.ts';
import { NO_OUTCOME, type Outgoing, type RunOutcome } from '../../domain/run/run.ts';
import type { LogLine, StepResult } from '../../domain/run/step-result.ts';
import type { RunRequest } from '../runner.ts';
import type { ChildRequests } from './child-requests.ts';

/** No attempt was made. */
export const RETURNED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'returned' } };
export const CANCELLED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'cancelled' } };

/**
 * What the process may still report of a run. The child enforces the same limits first: only forged messages reach
 * these.
 */
export interface OutputBudget {
  results: number;
  exports: number;
  logs: number;
  sends: number;
  sendBytes: number;
  dbNames: number;
  dbBytes: number;
}

/** What a process is loading: the index of a step, or null once its code is loaded. */
export interface Loading {
  step: number | null;
}

const LOADED: Readonly<Loading> = { step: null };

/** A process that takes longer to start is slow by itself. */
const MOST_START_MS = 30_000;

export class RunInFlight {
  readonly request: RunRequest;
  /** It waits in its process until others have ended: its code was not called. */
  isHeld: boolean;
  /** Why the run was halted; null: it was not. */
  halted: 'timeout' | 'cancelled' | null = null;
  /** The index of the first step that it executes; earlier steps were done in earlier segments. */
  readonly firstIndex: number;
  /** The steps that have ended, as reported before the run's end, with their output. */
  readonly steps: StepResult[] = [];
  readonly logs: LogLine[] = [];
  readonly outgoing: Outgoing[] = [];
  logBytesDropped = 0;
  summary: string | null = null;
  /** Of a source, or of steps that have succeeded. */
  dbWrites: RunOutcome['dbWrites'] = NO_OUTCOME.dbWrites;
  readonly budget: OutputBudget;
  /** When the current step began, as far as known (epoch ms). */
  stepStartedAtMs: number;
  /** Runs with the same key share a process. */
  key: string;
  /** How far the service's clock is ahead of the machine's, which the child uses. */
  aheadMs = 0;
  /** Of its process, which may begin no run before that. */
  loading: Readonly<Loading> = LOADED;
  /** Its process did not answer the halt. */
  isSilent = false;
  /** Only the first immediate answer counts. */
  answered = false;
  /** The requests of its code; null: none so far. */
  childRequests: ChildRequests | null = null;
  /** Since when its process has been starting with it, by `performance.now()`; null: it is not. */
  startingSince: number | null = null;
  readonly #settle: (outcome: RunOutcome) => void;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;

  constructor(request: RunRequest, nowMs: number, settle: (outcome: RunOutcome) => void) {
    this.request = request;
    this.key = request.deployment.id;
    this.firstIndex = request.earlier?.steps.length ?? 0;
    this.budget = budgetOf(request);
    this.stepStartedAtMs = nowMs;
    this.isHeld = request.atOnce !== undefined;
    this.#settle = settle;
  }

  /** Returns whether its process is still starting: none of that is its own time. */
  get isStarting(): boolean {
    return this.startingSince !== null && performance.now() - this.startingSince < MOST_START_MS;
  }

  /** Sets the run's only timer: the timeout first, then the wait for an answer to the halt. */
  setTimer(afterMs: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, afterMs);
  }

  end(outcome: RunOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.childRequests?.close();
    this.#settle(outcome);
  }
}

function budgetOf({ earlier }: RunRequest): OutputBudget {
  let results: number = LIMITS.resultBytes;
  for (const { returnValue = '', exports } of earlier?.steps ?? []) {
    results -= returnValue.length;
    for (const [name, text] of Object.entries(exports)) results -= name.length + text.length;
  }
  const logs = Math.max(0, LIMITS.logBytes - (earlier?.logBytes ?? 0));
  return {
    results,
    exports: LIMITS.exportsPerRun,
    logs,
    sends: LIMITS.emissionsPerRun,
    sendBytes: LIMITS.resultBytes,
    dbNames: LIMITS.dbWritesPerRun,
    dbBytes: LIMITS.resultBytes,
  };
}
