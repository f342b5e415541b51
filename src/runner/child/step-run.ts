// One step of one run: its exports, its answer, how it ended.

import type { ActiveRun, LoadedStep } from './active-run.ts';
import { answerOf } from './answer.ts';
import { ConfigurationError } from './errors.ts';
import { jsonOf } from './outbox.ts';
import { STEP_STATE, type StepTuple } from './protocol.ts';

const nowMs = Date.now;
const performanceMs = performance.now.bind(performance);

export class StepRun {
  readonly run: ActiveRun;
  readonly index: number;
  readonly step: LoadedStep;
  /** Set by `$.flow.exit`: the run ends with this step. */
  exiting = false;
  readonly #startedAtMs = nowMs();
  readonly #started = performanceMs();
  #exports: Record<string, string> | null = null;
  #answering: Promise<void>[] | null = null;

  constructor(run: ActiveRun, index: number) {
    this.run = run;
    this.index = index;
    this.step = run.program.steps[index] as LoadedStep;
  }

  export(name: unknown, value: unknown): void {
    if (typeof name !== 'string' || name === '') throw new ConfigurationError('$.export needs a name (a string)');
    if (this.run.ended) return;
    if (name === '$summary') this.run.setSummary(value);
    if (value === undefined) return;
    const text = this.run.countResult(jsonOf(value, `The export ${name.slice(0, 64)}`));
    this.run.countResult(name);
    this.#exports ??= Object.create(null) as Record<string, string>;
    this.#exports[name.toWellFormed()] = text;
  }

  /** Settles when the answer is on its way; the step does not end before that. */
  respond(given: unknown): Promise<void> {
    const answering = this.#respond(given);
    // It is awaited at the end of the step, so that an answer which cannot be sent fails the step there at the latest.
    answering.catch(() => {});
    this.#answering ??= [];
    this.#answering.push(answering);
    return answering;
  }

  async #respond(given: unknown): Promise<void> {
    const answer = await answerOf(given, this.run.program.limits.resultBytes);
    this.run.answer(answer, Boolean((given as { immediate?: unknown } | null)?.immediate));
  }

  /** The code has returned: records what it gave. Rejects as the step's code would, on what cannot be kept. */
  async finish(returned: unknown): Promise<void> {
    if (this.#answering !== null) await Promise.all(this.#answering);
    // What was not awaited is done all the same.
    const asked = this.run.asked();
    if (asked !== null) await asked;
    if (this.run.ended) return;
    const text = JSON.stringify(returned);
    if (text !== undefined) this.run.countResult(text);
    const state = this.exiting ? STEP_STATE.exited : STEP_STATE.succeeded;
    this.run.stepEnded(this.tuple(state, text ?? null));
    if (this.index < this.run.program.steps.length - 1) this.#showToLaterSteps(text);
  }

  tuple(state: number, returned: string | null): StepTuple {
    const tookMs = Math.round(performanceMs() - this.#started);
    return [this.index, state, this.#startedAtMs, tookMs, returned, this.#exports];
  }

  #showToLaterSteps(returned: string | undefined): void {
    const view = {};
    for (const [name, text] of Object.entries(this.#exports ?? {})) defineParsed(view, name, text);
    if (returned !== undefined) defineParsed(view, '$return_value', returned);
    // Not an assignment: `__proto__` is a possible name.
    Object.defineProperty(this.run.results, this.step.namespace, {
      value: view,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

/** A member that is parsed when it is first read; later reads give the same value. */
function defineParsed(target: object, name: string, text: string): void {
  const define = (value: unknown): unknown => {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
    return value;
  };
  Object.defineProperty(target, name, {
    get: () => define(JSON.parse(text)),
    set: define,
    enumerable: true,
    configurable: true,
  });
}
