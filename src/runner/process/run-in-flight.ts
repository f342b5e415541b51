// A run between `run()` and its outcome.

import { LIMITS } from '../../domain/limits.ts';
import { NO_OUTCOME, type Outgoing, type RunOutcome } from '../../domain/run/run.ts';
import type { LogLine, StepResult } from '../../domain/run/step-result.ts';
import type { RunRequest } from '../runner.ts';
import type { ChildRequests } from './child-requests.ts';

/** No attempt was made. */
export const RETURNED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'returned' } };
export const CANCELLED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'cancelled' } };

/** What the process may still tell of a run. The code is stopped by the same limits before: only a forger comes to these. */
export interface OutputBudget {
  results: number;
  exports: number;
  logs: number;
  sends: number;
  sendBytes: number;
}

export class RunInFlight {
  readonly request: RunRequest;
  /** Why it was told to end, once it was. */
  halted: 'timeout' | 'cancelled' | null = null;
  /** The index of the first step that it executes: those before it were done when it went on. */
  readonly firstIndex: number;
  /** Steps known to have ended, from before the run's end, and what they printed and sent. */
  readonly steps: StepResult[] = [];
  readonly logs: LogLine[] = [];
  readonly outgoing: Outgoing[] = [];
  logBytesDropped = 0;
  summary: string | null = null;
  readonly budget: OutputBudget;
  /** Since when the step now running runs, as far as known (epoch ms). */
  stepStartedAtMs: number;
  /** Runs with the same one share a process. */
  key: string;
  /** How far the service's clock is ahead of the machine's, by which the child tells the time. */
  aheadMs = 0;
  /** Its process did not answer when it was told to end. */
  isSilent = false;
  /** Only the first immediate answer counts. */
  answered = false;
  /** What its code asks; null: nothing so far. */
  childRequests: ChildRequests | null = null;
  readonly #settle: (outcome: RunOutcome) => void;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;

  constructor(request: RunRequest, nowMs: number, settle: (outcome: RunOutcome) => void) {
    this.request = request;
    this.key = request.deployment.id;
    this.firstIndex = request.goingOn?.steps.length ?? 0;
    this.budget = budgetOf(request);
    this.stepStartedAtMs = nowMs;
    this.#settle = settle;
  }

  /** One timer at a time: the deadline first, then the wait for an answer to the halt. */
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

function budgetOf({ goingOn }: RunRequest): OutputBudget {
  let results: number = LIMITS.resultBytes;
  for (const { returnValue = '', exports } of goingOn?.steps ?? []) {
    results -= returnValue.length;
    for (const [name, text] of Object.entries(exports)) results -= name.length + text.length;
  }
  const logs = Math.max(0, LIMITS.logBytes - (goingOn?.logBytes ?? 0));
  return { results, exports: LIMITS.exportsPerRun, logs, sends: LIMITS.emissionsPerRun, sendBytes: LIMITS.resultBytes };
}
