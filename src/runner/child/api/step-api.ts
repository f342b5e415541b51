// Builds `$`: what a step may do.

import { ConfigurationError } from '../errors.ts';
import type { StepRun } from '../step-run.ts';
import { flowApi } from './flow.ts';

/** Returns the `$` of one step in one run. Its functions may be destructured and called alone. */
export function stepApi(step: StepRun): Record<string, unknown> {
  const { run } = step;
  let context: unknown;
  const api = {
    export: (name: unknown, value: unknown) => step.export(name, value),
    respond: (answer: unknown) => step.respond(answer),
    get context() {
      context ??= contextOf(step);
      return context;
    },
    send: {
      ...HOSTED_SENDS,
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
  // Not enumerable: code that inspects all of `$` does not use it.
  return Object.defineProperty(api, 'files', { get: noFiles, enumerable: false, configurable: true });
}

/** Members of the hosted original that are missing here: code that calls one gets an error that says so. */
const HOSTED_SENDS = Object.fromEntries(
  ['s3', 'sse', 'snowflake'].map((name) => [
    name,
    () => {
      throw new ConfigurationError(`$.send.${name} is not available here: $.send has emit, email and http`);
    },
  ]),
);

function noFiles(): never {
  throw new ConfigurationError('$.files is not available here: code keeps its files below /tmp, with node:fs');
}

function contextOf(step: StepRun): Record<string, unknown> {
  const { context, deadlineMs, attempt } = step.run.message;
  const run = { runs: step.runs, context: step.rerunContext, callback_request: step.run.callbackRequest() };
  return { ...context, deadline: deadlineMs, run, attempt, test: context.test === true };
}
