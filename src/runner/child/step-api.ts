// `$`: what a step may do.

import { flowApi } from './flow.ts';
import type { StepRun } from './step-run.ts';

/** The `$` of one step in one run. Its functions may be taken out of it and called alone. */
export function stepApi(step: StepRun): Record<string, unknown> {
  const { run } = step;
  let context: unknown;
  return {
    export: (name: unknown, value: unknown) => step.export(name, value),
    respond: (answer: unknown) => step.respond(answer),
    get context() {
      context ??= contextOf(step);
      return context;
    },
    send: {
      emit: (event: unknown, channel?: unknown) => {
        if (!run.ended) run.outbox.emit(event, channel);
      },
      email: (mail: unknown) => {
        if (!run.ended) run.outbox.email(mail);
      },
      http: (request: unknown) => {
        if (!run.ended) run.outbox.http(request);
      },
    },
    flow: flowApi(step),
  };
}

function contextOf(step: StepRun): Record<string, unknown> {
  const { context, deadlineMs, attempt } = step.run.message;
  const run = { runs: step.runs, context: step.rerunContext, callback_request: step.run.callbackRequest() };
  return { ...context, deadline: deadlineMs, run, attempt, test: context.test === true };
}
