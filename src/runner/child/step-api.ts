// `$`: what a step may do.

import { ConfigurationError } from './errors.ts';
import type { StepRun } from './step-run.ts';
import { textOf } from './text.ts';

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
      http: NO_SEND_HTTP,
    },
    flow: {
      exit: (reason?: unknown) => {
        if (run.ended) return;
        step.exiting = true;
        run.exitReason =
          reason === undefined || reason === null ? undefined : textOf(reason).slice(0, 1024).toWellFormed();
      },
      ...NO_FLOW,
    },
  };
}

function contextOf({ run }: StepRun): Record<string, unknown> {
  const { context, deadlineMs, attempt } = run.message;
  return { ...context, deadline: deadlineMs, run: { runs: 1 }, attempt, test: context.test === true };
}

const NO_SEND_HTTP = notHere('$.send.http');
const NO_FLOW = {
  delay: notHere('$.flow.delay'),
  suspend: notHere('$.flow.suspend'),
  rerun: notHere('$.flow.rerun'),
  trigger: notHere('$.flow.trigger'),
};

function notHere(name: string): () => never {
  return () => {
    throw new ConfigurationError(`${name} is not available in this version of Errand`);
  };
}
