// A run between `run()` and its outcome.

import { NO_OUTCOME, type RunOutcome, type StepResult } from '../domain/run.ts';
import type { Asks } from './asks.ts';
import type { RunRequest } from './runner.ts';

/** No attempt was made. */
export const RETURNED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'returned' } };
export const CANCELLED: RunOutcome = { ...NO_OUTCOME, end: { kind: 'cancelled' } };

export class Flight {
  readonly request: RunRequest;
  /** Why it was told to end, once it was. */
  halted: 'timeout' | 'cancelled' | null = null;
  /** Steps known to have ended, from before the run's end. */
  readonly steps: StepResult[] = [];
  /** Since when the step now running runs, as far as known (epoch ms). */
  stepStartedAtMs: number;
  /** How far the service's clock is ahead of the machine's, by which the child tells the time. */
  aheadMs = 0;
  /** Only the first immediate answer counts. */
  answered = false;
  /** What its code asks; null: nothing so far. */
  asks: Asks | null = null;
  readonly #settle: (outcome: RunOutcome) => void;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;

  constructor(request: RunRequest, nowMs: number, settle: (outcome: RunOutcome) => void) {
    this.request = request;
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
    this.asks?.close();
    this.#settle(outcome);
  }
}
