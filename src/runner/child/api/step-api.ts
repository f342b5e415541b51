// Builds `$`: what a step may do.

import { HOSTED_SENDS } from '../../component-api.ts';
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
      ...MISSING_SENDS,
      emit: (event: unknown, channel?: unknown) => {
        if (!run.isTooLate('$.send.emit')) run.outgoing.emit(event, channel);
      },
      email: (mail: unknown) => {
        if (!run.isTooLate('$.send.email')) run.outgoing.email(mail);
      },
      http: (request: unknown) => {
        if (!run.isTooLate('$.send.http')) run.outgoing.http(request);
      },
    },
    flow: flowApi(step),
  };
  // Not enumerable: code that inspects all of `$` does not use it.
  Object.defineProperty(api, 'discord', { value: NO_DISCORD, enumerable: false, configurable: true });
  return Object.defineProperty(api, 'files', { get: noFiles, enumerable: false, configurable: true });
}

/** Members of the hosted original that are missing here: code that calls one gets an error that says so. */
const MISSING_SENDS = Object.fromEntries(
  HOSTED_SENDS.map((name) => [
    name,
    () => {
      throw new ConfigurationError(
        `$.send.${name} is not available here, since it needs the vendor's service: $.send has emit, email and http`,
      );
    },
  ]),
);

const NO_DISCORD = new Proxy(Object.freeze({}), {
  get: (_target, name) => () => {
    throw new ConfigurationError(
      `$.discord.${String(name)} is not available here, since it needs the vendor's bot: send messages to a webhook of the channel`,
    );
  },
});

function noFiles(): never {
  throw new ConfigurationError('$.files is not available here: code keeps its files below /tmp, with node:fs');
}

function contextOf(step: StepRun): Record<string, unknown> {
  const { context, deadlineMs, attempt } = step.run.message;
  const run = { runs: step.runs, context: step.rerunContext, callback_request: step.run.callbackRequest() };
  return { ...context, deadline: deadlineMs, run, attempt, test: context.test === true };
}
