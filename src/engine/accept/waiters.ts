// Callers that wait for a run: the caller of an HTTP trigger with `custom_response`, or an API call that needs its end.

import { msOf } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Answered, WhenGone } from '../../domain/requests.ts';
import { isOfRefusedAnswer } from '../../domain/run/refused-answer.ts';
import type { HttpAnswer, RunOutcome } from '../../domain/run/run.ts';
import type { Wait } from '../../domain/run/wait.ts';

interface WaitingCallers {
  readonly answered: Set<(answered: Answered) => void>;
  readonly ended: Set<(outcome: RunOutcome) => void>;
  /** Another node may execute it: what becomes of it is asked of the store. */
  isElsewhere: boolean;
}

export interface AwaitedAnswer {
  readonly answered: Promise<Answered>;
  /** Removes the waiting caller. */
  leave(): void;
}

export class Waiters {
  readonly #byRun = new Map<number, WaitingCallers>();
  #isStopped = false;

  /**
   * Returns a promise of a run's answer. It is taken before the run is started. No caller waits for ever: a throttled run may
   * begin in a day. `whenGone`: tells when the caller has disconnected, and the run's answer cannot be sent.
   */
  answerOf(run: number, whenGone?: WhenGone): AwaitedAnswer {
    const { promise: answered, resolve } = Promise.withResolvers<Answered>();
    const leave = (): void => {
      clearTimeout(timer);
      this.#byRun.get(run)?.answered.delete(settle);
      this.#forgetIdle(run);
    };
    const settle = (answer: Answered): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => {
      leave();
      resolve({ kind: 'timeout' });
    }, LIMITS.callerMs).unref();
    this.#of(run).answered.add(settle);
    if (this.#isStopped) this.answer(run, { kind: 'stopping' });
    whenGone?.(() => {
      leave();
      resolve({ kind: 'none' });
    });
    return { answered, leave };
  }

  endOf(run: number): Promise<RunOutcome> {
    return new Promise((resolve) => this.#of(run).ended.add(resolve));
  }

  /** Answers the callers now; later answers are ignored. Returns false when no caller waited. */
  answer(run: number, answered: Answered): boolean {
    const waiting = this.#byRun.get(run);
    if (!waiting || waiting.answered.size === 0) return false;
    for (const resolve of waiting.answered) resolve(answered);
    waiting.answered.clear();
    this.#forgetIdle(run);
    return true;
  }

  /**
   * Notes that the run waits, and that this is durable: callers get what it has answered by now. Without an answer they go on
   * waiting when time alone ends its wait, and soon; else they get what a run without an answer gives. False: no caller was
   * answered.
   */
  wait(run: number, wait: Wait, answer: HttpAnswer | null): boolean {
    if (answer) return this.answer(run, { kind: 'answer', answer });
    const isSoon = wait.kind !== 'suspend' && wait.dueAtMs <= msOf(run) + LIMITS.answerWaitMs;
    return !isSoon && this.answer(run, { kind: 'none' });
  }

  /** Notes that the run has ended, and that this is durable. */
  end(run: number, outcome: RunOutcome): void {
    const waiting = this.#byRun.get(run);
    if (!waiting) return;
    this.#byRun.delete(run);
    const answered = finalAnswer(outcome);
    for (const resolve of waiting.answered) resolve(answered);
    for (const resolve of waiting.ended) resolve(outcome);
  }

  /** Tells all callers that wait for an answer that this process stops, and those that come. */
  stop(): void {
    this.#isStopped = true;
    for (const run of this.runs()) this.answer(run, { kind: 'stopping' });
  }

  /** Runs that a caller waits for. */
  runs(): number[] {
    return [...this.#byRun.keys()];
  }

  /** Says where the run is executed. Returns false when no caller waits for it. */
  place(run: number, at: 'here' | 'elsewhere'): boolean {
    const waiting = this.#byRun.get(run);
    if (waiting) waiting.isElsewhere = at === 'elsewhere';
    return waiting !== undefined;
  }

  /** Runs that a caller waits for and that another node executes. */
  elsewhere(): number[] {
    return [...this.#byRun].filter(([, { isElsewhere }]) => isElsewhere).map(([run]) => run);
  }

  #of(run: number): WaitingCallers {
    const known = this.#byRun.get(run);
    if (known) return known;
    const made: WaitingCallers = { answered: new Set(), ended: new Set(), isElsewhere: false };
    this.#byRun.set(run, made);
    return made;
  }

  #forgetIdle(run: number): void {
    const waiting = this.#byRun.get(run);
    if (waiting && waiting.answered.size + waiting.ended.size === 0) this.#byRun.delete(run);
  }
}

function finalAnswer(outcome: RunOutcome): Answered {
  if (outcome.answer) return { kind: 'answer', answer: outcome.answer };
  if (outcome.end.kind === 'failed' && outcome.end.fault.code === 'Timeout') return { kind: 'timeout' };
  if (outcome.end.kind === 'failed' && isOfRefusedAnswer(outcome.end.fault)) return { kind: 'refused' };
  if (outcome.end.kind === 'cancelled') return { kind: 'cancelled' };
  return { kind: outcome.end.kind === 'succeeded' ? 'silent' : 'none' };
}
