// Runs the steps of one run, in order.

import type { ActiveRun } from './active-run.ts';
import { bindComponent, type Component } from './component.ts';
import { current } from './current.ts';
import { dataStore } from './data-store.ts';
import { runSource } from './source.ts';
import { stepApi } from './step-api.ts';
import { StepRun } from './step-run.ts';

/** Never rejects: what goes wrong ends the run as failed. */
export async function execute(run: ActiveRun): Promise<void> {
  const count = run.program.steps.length;
  run.results.trigger = triggerOf(run);
  for (let index = 0; index < count; index++) {
    if (index > 0) run.tellSteps();
    const step = new StepRun(run, index);
    run.currentStep = step;
    try {
      await current.run(step, perform, step);
    } catch (thrown) {
      run.fail(thrown);
    }
    if (run.ended) return;
    run.currentStep = null;
    if (step.exiting) break;
  }
  run.end({ kind: 'succeeded', exitReason: run.exitReason });
}

async function perform(step: StepRun): Promise<void> {
  const { run } = step;
  if (run.message.source !== null) {
    await runSource(step, run.message.source);
    return step.finish(undefined);
  }
  const { component } = step.step;
  const given = { steps: run.results, $: stepApi(step) };
  if (typeof component === 'function') return step.finish(await component(given));
  const self = bindComponent(component as Component, {
    respond: (answer) => step.respond(answer),
    props: run.message.props?.[step.index] ?? undefined,
    onEnd: (clean) => run.cleaning.push(clean),
    dataStore: (id) => dataStore(id, run.questions, run.program.limits),
  });
  return step.finish(await (component as Component).run?.call(self, given));
}

/** `event` is parsed when it is first read; `raw` is its exact text. */
function triggerOf(run: ActiveRun): object {
  let event: unknown;
  let known = false;
  let text: string | undefined;
  const raw = (): string => {
    text ??= run.eventText();
    return text;
  };
  const set = (value: unknown): void => {
    event = value;
    known = true;
  };
  return {
    context: run.message.context,
    get raw() {
      return raw();
    },
    get event() {
      if (!known) set(JSON.parse(raw()));
      return event;
    },
    set event(value: unknown) {
      set(value);
    },
  };
}
