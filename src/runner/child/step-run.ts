// One step of one run: its exports, its answer, how it ended and what comes next.

import type { ActiveRun, LoadedStep } from './active-run.ts';
import { answerOf } from './api/answer.ts';
import { showStep } from './api/results.ts';
import { ConfigurationError } from './errors.ts';
import { jsonOf, jsonOrNoneOf } from './json-text.ts';
import { type LateCall, STEP_STATE, type StepTuple, type WaitTuple } from './protocol.ts';

const nowMs = Date.now;
const CALLED_LATE = 'was called after its step had ended, and has no effect: the code must await what it begins';

const performanceMs = performance.now.bind(performance);

export class StepRun {
  readonly run: ActiveRun;
  readonly index: number;
  readonly step: LoadedStep;
  /** How often the step was executed in this run, including this time. */
  readonly runs: number;
  /** What follows this step; `$.flow` changes it while the step runs. */
  next: 'step' | 'exit' | WaitTuple = 'step';
  readonly #startedAtMs = nowMs();
  readonly #started = performanceMs();
  #exports: Record<string, string> | null = null;
  #answering: Promise<void>[] | null = null;
  #isDone = false;
  /** The calls after the step's end of which the run's log has a line. */
  #late: Set<LateCall> | null = null;

  constructor(run: ActiveRun, index: number) {
    this.run = run;
    this.index = index;
    this.step = run.steps[index] as LoadedStep;
    this.runs = (index === run.firstIndex ? (run.message.earlier?.reruns?.runs ?? 0) : 0) + 1;
  }

  /**
   * Returns whether the step is over, and the call has no effect. The run's log says so, or, when the run has ended as
   * well, the server's.
   */
  isTooLate(call: LateCall): boolean {
    if (!this.#isDone || this.run.ended) return this.run.isTooLate(call);
    this.#late ??= new Set();
    if (!this.#late.has(call)) this.run.print('warn', this.step.namespace, `${call} ${CALLED_LATE}`);
    this.#late.add(call);
    return true;
  }

  /** Returns the context that the last execution of this step passed to this one. */
  get rerunContext(): unknown {
    const text = this.runs > 1 ? this.run.message.earlier?.reruns?.context : null;
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  }

  /** Returns the body of the request that caused this step to be executed again. */
  get #resumeData(): string | undefined {
    if (this.runs === 1) return undefined;
    const body = this.run.callbackRequest()?.body;
    return body === undefined ? undefined : JSON.stringify(body);
  }

  export(name: unknown, value: unknown): void {
    if (typeof name !== 'string' || name === '') throw new ConfigurationError('$.export needs a name (a string)');
    if (this.isTooLate('$.export')) return;
    if (name === '$summary') this.run.setSummary(value);
    if (value === undefined) return;
    const { nestingDepth } = this.run.program.limits;
    const text = this.run.countResult(jsonOf(value, { what: `The export ${name.slice(0, 64)}`, levels: nestingDepth }));
    this.run.countResult(name);
    this.run.countExport();
    this.#exports ??= Object.create(null) as Record<string, string>;
    this.#exports[name.toWellFormed()] = text;
  }

  /** Sends an answer. Settles when the answer is on its way; the step does not end before that. */
  respond(given: unknown): Promise<void> {
    if (this.run.isTooLate('$.respond')) return Promise.resolve();
    return this.#await(this.#respond(given, Boolean((given as { immediate?: unknown } | null)?.immediate)));
  }

  /** Sends an answer at once, as sources do: their callers do not wait long, and the request is on disk already. */
  respondAtOnce(given: unknown): Promise<void> {
    if (this.run.isTooLate('this.http.respond')) return Promise.resolve();
    return this.#await(this.#respond(given, true));
  }

  #await(answering: Promise<void>): Promise<void> {
    // The step's end awaits it, so that an answer that cannot be sent fails the step at the latest there.
    answering.catch(() => {});
    this.#answering ??= [];
    this.#answering.push(answering);
    return answering;
  }

  async #respond(given: unknown, immediate: boolean): Promise<void> {
    const answer = await answerOf(given, this.run.program.limits.resultBytes);
    this.run.answer(answer, immediate);
  }

  /** Records what the code returned. Rejects, as the step's code would, when it cannot be kept. */
  async finish(returned: unknown): Promise<void> {
    if (this.#answering !== null) await Promise.all(this.#answering);
    // Requests that the code did not await are done all the same.
    const settled = this.run.requestsSettled();
    if (settled !== null) await settled;
    if (this.run.ended) return;
    const { run, step, next } = this;
    const what = `The return value of the step ${step.namespace}`;
    const text = jsonOrNoneOf(returned, { what, levels: run.program.limits.nestingDepth });
    if (text !== undefined) run.countResult(text);
    const context = typeof next === 'object' ? next[2] : null;
    if (context !== null) run.countResult(context);
    this.#isDone = true;
    const state = next === 'exit' ? STEP_STATE.exited : STEP_STATE.succeeded;
    run.stepEnded(this.tuple(state, text ?? null));
    if (this.index < run.steps.length - 1) {
      const left = { returnValue: text, exports: this.#exports ?? {}, resumeData: this.#resumeData };
      showStep(run.results, step.namespace, left);
    }
  }

  tuple(state: number, returned: string | null): StepTuple {
    const tookMs = Math.round(performanceMs() - this.#started);
    return [this.index, state, this.#startedAtMs, tookMs, returned, this.#exports];
  }
}
