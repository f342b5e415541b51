// What `@pipedream/platform` exports of the step that runs: the globals of the first version of the component API, written
// from their names. They are for steps; code of a source has no `$`.

import { ConfigurationError } from './platform-error.ts';
import type { SendConfigEmail, SendConfigEmit, SendConfigHTTP } from './platform-send.ts';

/** The process keeps a function under this global symbol: `() => CurrentStep | undefined`. */
export const CURRENT_STEP = Symbol.for('errand.step');

type Send = (given: unknown, channel?: unknown) => unknown;

/** What this module uses of a step's `$`. */
export interface StepApi {
  readonly send: Readonly<Record<string, Send>>;
  readonly flow: { exit(reason?: unknown): void };
}

export interface CurrentStep {
  /** The event of the run's trigger, parsed when it is first read. */
  readonly event: unknown;
  /** Null in a source. */
  readonly $: StepApi | null;
}

/** The error that `$end` throws has this member, by which code that catches errors tells that one from others. */
export const END_NEEDLE = '__pd_end';

/** Ends the run as succeeded, as `$.flow.exit` does, and the step's code with it: nothing behind this call is executed. */
export function $end(message?: unknown): never {
  stepApi('$end').flow.exit(message);
  const end = { message, ts: new Date().toISOString() };
  throw Object.assign(new Error('The run was ended with $end'), { [END_NEEDLE]: end });
}

/** Each sends as `$.send` of the current step does. Those that need the vendor's service throw, and say what there is. */
export const $send = {
  http: (request: SendConfigHTTP): void => sendBy('http', request),
  email: (mail: SendConfigEmail): void => sendBy('email', mail),
  emit: (event: SendConfigEmit, channel?: string): void => sendBy('emit', event, channel),
  s3: (given: unknown): void => sendBy('s3', given),
  sql: (given: unknown): void => sendBy('sql', given),
  sse: (given: unknown): void => sendBy('sse', given),
  snowflake: (given: unknown): void => sendBy('snowflake', given),
  sms: (given: unknown): void => sendBy('sms', given),
};

function sendBy(name: string, given: unknown, channel?: unknown): void {
  stepApi(`$send.${name}`).send[name]?.(given, channel);
}

function stepApi(name: string): StepApi {
  const step = currentStep();
  if (step === undefined) throw new ConfigurationError(`${name} can be called only while a step runs`);
  const { $ } = step;
  if ($ !== null) return $;
  throw new ConfigurationError(
    `${name} is for steps of workflows: a source emits with this.$emit, ends by returning, and sends requests with axios`,
  );
}

function currentStep(): CurrentStep | undefined {
  const find: unknown = Reflect.get(globalThis, CURRENT_STEP);
  return typeof find === 'function' ? find() : undefined;
}

/** Returns the current run's event; without a run, or when the event is no object, one without members. */
function currentEvent(): object {
  const event = currentStep()?.event;
  return typeof event === 'object' && event !== null ? event : {};
}

/**
 * The event of the current run's trigger, as `steps.trigger.event` has it. A module is loaded once for many runs, so each
 * access looks up the event; while no run asks, there are no members.
 */
export const $event: object = /* @__PURE__ */ new Proxy(
  {},
  {
    get: (_target, name) => Reflect.get(currentEvent(), name),
    set: (_target, name, value) => Reflect.set(currentEvent(), name, value),
    has: (_target, name) => Reflect.has(currentEvent(), name),
    deleteProperty: (_target, name) => Reflect.deleteProperty(currentEvent(), name),
    ownKeys: () => Reflect.ownKeys(currentEvent()),
    getOwnPropertyDescriptor: (_target, name) => {
      const found = Reflect.getOwnPropertyDescriptor(currentEvent(), name);
      // A proxy may describe only members of its target as fixed.
      return found && { ...found, configurable: true };
    },
  },
);
