// Runs the steps of one run in order; a run that goes on after a wait begins behind the steps that are done.

import { END_NEEDLE } from '../modules/platform-step.ts';
import type { ActiveRun } from './active-run.ts';
import { dataStore } from './api/data-store.ts';
import { evaluated } from './api/expressions.ts';
import { stepApi } from './api/step-api.ts';
import { stepDb } from './api/step-db.ts';
import { bindComponent, type Component } from './component/component.ts';
import { runSource } from './component/source.ts';
import { current } from './current.ts';
import { StepRun } from './step-run.ts';

/** Executes the run. Never rejects: an error ends the run as failed. */
export async function execute(run: ActiveRun): Promise<void> {
  const count = run.steps.length;
  for (let index = run.firstIndex; index < count; index++) {
    run.reportStep();
    const step = new StepRun(run, index);
    run.currentStep = step;
    try {
      await current.run(step, perform, step);
    } catch (thrown) {
      if (!(await isExit(step, thrown))) run.fail(thrown);
    }
    if (run.ended) return;
    run.currentStep = null;
    if (step.next === 'exit') break;
    if (step.next !== 'step') return run.end({ kind: 'waiting', wait: step.next });
  }
  run.end({ kind: 'succeeded', exitReason: run.exitReason });
}

/** Ends a step that threw what `$end` throws, as if it had returned; false: it threw another error. */
async function isExit(step: StepRun, thrown: unknown): Promise<boolean> {
  if (step.next !== 'exit' || !(thrown instanceof Error) || !Object.hasOwn(thrown, END_NEEDLE)) return false;
  try {
    await current.run(step, () => step.finish(undefined));
  } catch (failed) {
    step.run.fail(failed);
  }
  return true;
}

async function perform(step: StepRun): Promise<void> {
  const { run } = step;
  if (run.message.source !== null) {
    await runSource(step, run.message.source);
    return step.finish(undefined);
  }
  const { component } = step.step;
  const given = givenTo(step);
  if (typeof component === 'function') return step.finish(await component(given));
  const props = run.message.props?.[step.index];
  const self = bindComponent(component as Component, {
    respond: (answer) => step.respond(answer),
    props: props ? evaluated(props, run.results, component as Component) : undefined,
    onEnd: (clean) => run.cleaning.push(clean),
    dataStore: (id) => dataStore(id, run.requests, run.program.limits),
    db: stepDb(step),
  });
  return step.finish(await (component as Component).run?.call(self, given));
}

interface Trigger {
  readonly event: unknown;
  readonly context: unknown;
}

/** Returns what a step's code is called with. `event` and `context` are getters: an event is parsed when it is first read. */
function givenTo(step: StepRun): object {
  const { results } = step.run;
  return {
    steps: results,
    $: stepApi(step),
    get event() {
      return (results.trigger as Trigger).event;
    },
    get context() {
      return (results.trigger as Trigger).context;
    },
  };
}
