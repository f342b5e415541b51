// Who waits for a run: the caller of an HTTP trigger with `custom_response`, or an API call that needs its end.

import type { Answered } from '../domain/requests.ts';
import type { RunOutcome } from '../domain/run.ts';

interface Waiting {
  readonly answered: ((answered: Answered) => void)[];
  readonly ended: ((outcome: RunOutcome) => void)[];
}

export class Waiters {
  readonly #byRun = new Map<number, Waiting>();

  /** Register before the run is started. */
  answerOf(run: number): Promise<Answered> {
    return new Promise((resolve) => this.#of(run).answered.push(resolve));
  }

  endOf(run: number): Promise<RunOutcome> {
    return new Promise((resolve) => this.#of(run).ended.push(resolve));
  }

  /** The answer goes out now; later ones are ignored. */
  answer(run: number, answered: Answered): void {
    const waiting = this.#byRun.get(run);
    if (!waiting) return;
    for (const resolve of waiting.answered.splice(0)) resolve(answered);
  }

  /** The run has ended, and that is durable. */
  end(run: number, outcome: RunOutcome): void {
    const waiting = this.#byRun.get(run);
    if (!waiting) return;
    this.#byRun.delete(run);
    const answered = finalAnswer(outcome);
    for (const resolve of waiting.answered) resolve(answered);
    for (const resolve of waiting.ended) resolve(outcome);
  }

  /** Those that somebody waits for. */
  runs(): number[] {
    return [...this.#byRun.keys()];
  }

  #of(run: number): Waiting {
    const known = this.#byRun.get(run);
    if (known) return known;
    const made: Waiting = { answered: [], ended: [] };
    this.#byRun.set(run, made);
    return made;
  }
}

function finalAnswer(outcome: RunOutcome): Answered {
  if (outcome.answer) return { kind: 'answer', answer: outcome.answer };
  if (outcome.end.kind === 'failed' && outcome.end.fault.code === 'Timeout') return { kind: 'timeout' };
  return { kind: 'none' };
}
