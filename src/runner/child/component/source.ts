// Makes one call of a source's component: its `run`, or its hooks.

import { text as textOf } from '../../../domain/bytes.ts';
import { memberOf } from '../../../domain/json-member.ts';
import type { Hook, SourceRunInput } from '../../runner.ts';
import { dataStore } from '../api/data-store.ts';
import type { EmitMetadata } from '../api/outgoing-items.ts';
import { serviceDb } from '../api/service-db.ts';
import { ConfigurationError } from '../errors.ts';
import type { StepRun } from '../step-run.ts';
import { bindComponent, type Component, type ComponentBindings } from './component.ts';
import { allDefinitions } from './definitions.ts';

/** When no code catches this error, it shows in the server's log; otherwise the event would be lost without a trace. */
const EMITTED_LATE =
  'this.$emit was called after its run had ended, and emits nothing: the code must await what it begins';

export async function runSource(step: StepRun, input: SourceRunInput): Promise<void> {
  const { run } = step;
  const component = step.step.component as Component;
  const bindings: ComponentBindings = {
    props: input,
    endpoints: input.endpoints,
    db: serviceDb(input.db, run.dbWrites, run.dbBudget),
    respond: (answer) => step.respondAtOnce(answer),
    dataStore: (id) => dataStore(id, run.requests, run.program.limits),
    emit: (event, metadata) => {
      if (run.ended) throw new ConfigurationError(EMITTED_LATE);
      run.outgoing.emitItem(event, metadata as EmitMetadata | undefined);
    },
    onEnd: (clean) => run.cleaning.push(clean),
  };
  if (input.call !== 'run') {
    for (const name of input.call) await runHook(step, { name, component, bindings });
    return;
  }
  // A source without `run` emits what its interface receives, byte for byte.
  if (typeof component.run !== 'function') return run.outgoing.emitText(run.eventText());
  const self = bindComponent(component, bindings);
  await component.run.call(self, eventFor(component, { text: run.eventText(), input }), { context: contextOf(step) });
}

/** Returns the context as steps have it, without what only runs of workflows have. */
function contextOf({ run: { message } }: StepRun): Record<string, unknown> {
  const { context, deadlineMs, attempt } = message;
  return { ...context, deadline: deadlineMs, attempt, test: context.test === true };
}

/** The step's record names the hook under this export, and so does the answer to the deployment. */
const HOOK_EXPORT = '$hook';

/** Calls one hook with a `this` of its own. The emissions and db writes of all hooks belong to one run. */
async function runHook(
  step: StepRun,
  { name, component, bindings }: { name: Hook; component: Component; bindings: ComponentBindings },
): Promise<void> {
  const hook = component.hooks?.[name];
  if (typeof hook !== 'function') return;
  step.export(HOOK_EXPORT, name);
  await hook.call(bindComponent(component, bindings));
}

/** Returns the parsed event; one that came over HTTP also has `bodyRaw`, which signature checks need. */
function eventFor(component: Component, { text, input }: { text: string; input: SourceRunInput }): unknown {
  const event: unknown = JSON.parse(text);
  if (!hasHttp(component, input) || !isHttpEvent(event) || 'bodyRaw' in event) return event;
  return Object.assign(event, { bodyRaw: rawBodyOf(text, event.body) });
}

function hasHttp({ props }: Component, { additionalProps }: SourceRunInput): boolean {
  return Object.values(allDefinitions(props, additionalProps)).some(({ type }) => type === '$.interface.http');
}

function isHttpEvent(event: unknown): event is { body: unknown } {
  if (typeof event !== 'object' || event === null) return false;
  const { method, headers } = event as Record<string, unknown>;
  return typeof method === 'string' && typeof headers === 'object';
}

/**
 * Returns the request body as it was sent: the event contains it verbatim when it was JSON. `text` is the event's JSON
 * text (known to be valid), `body` its parsed `body` member.
 */
export function rawBodyOf(text: string, body: unknown): string {
  if (body === null || body === undefined) return '';
  if (typeof body === 'string') return body;
  const found = memberOf(Buffer.from(text), 'body');
  return found === undefined ? JSON.stringify(body) : textOf(found);
}
