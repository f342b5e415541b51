// Builds `steps` as the code sees it: the outputs of earlier steps, parsed when they are first read.

import type { RunMessage } from '../protocol.ts';

/** The output of a step: JSON texts. */
export interface StepOutput {
  readonly returnValue?: string | undefined;
  readonly exports: Readonly<Record<string, string>>;
  readonly resumeData?: string | undefined;
}

/** Returns `steps` at the begin of a run: its trigger, and the steps that were done before it went on. */
export function resultsOf(message: RunMessage, eventText: () => string): Record<string, unknown> {
  const results = { trigger: triggerOf(message, eventText) };
  for (const step of message.earlier?.steps ?? []) showStep(results, step.namespace, step);
  return results;
}

/** Adds the output of a step, for the steps that follow. */
export function showStep(results: object, namespace: string, { returnValue, exports, resumeData }: StepOutput): void {
  const view = {};
  for (const [name, text] of Object.entries(exports)) defineParsed(view, name, text);
  if (returnValue !== undefined) defineParsed(view, '$return_value', returnValue);
  if (resumeData !== undefined) defineParsed(view, '$resume_data', resumeData);
  // Not an assignment: `__proto__` is a possible name.
  Object.defineProperty(results, namespace, { value: view, enumerable: true, configurable: true, writable: true });
}

/** Returns `steps.trigger`: `event` is parsed when it is first read; `raw` is its exact text. */
function triggerOf({ context }: RunMessage, eventText: () => string): object {
  let event: unknown;
  let known = false;
  let text: string | undefined;
  const raw = (): string => {
    text ??= eventText();
    return text;
  };
  const set = (value: unknown): void => {
    event = value;
    known = true;
  };
  return {
    context,
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

/** Defines a member that is parsed when it is first read; later reads give the same value. */
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
