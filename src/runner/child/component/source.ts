// One call of a source's component: its `run`, or one of its hooks.

import type { Hook, SourceInput } from '../../runner.ts';
import { dataStore } from '../api/data-store.ts';
import type { EmitMetadata } from '../api/outbox.ts';
import { sourceDb } from '../api/source-db.ts';
import { ConfigurationError } from '../errors.ts';
import { rawBodyOf } from '../raw-body.ts';
import type { StepRun } from '../step-run.ts';
import { bindComponent, type Component, type Surroundings } from './component.ts';
import { allDefinitions } from './definitions.ts';

/** Nobody may be left to catch it, and then the server's log tells it: an event that is lost in silence is missed by nobody. */
const EMITTED_LATE =
  'this.$emit was called after its run had ended, and emits nothing: the code must await what it begins';

export async function runSource(step: StepRun, input: SourceInput): Promise<void> {
  const { run } = step;
  const component = step.step.component as Component;
  const around: Surroundings = {
    props: input,
    endpoints: input.endpoints,
    db: sourceDb(input.db, run.dbWrites, run.program.limits),
    respond: (answer) => step.respondAtOnce(answer),
    dataStore: (id) => dataStore(id, run.requests, run.program.limits),
    emit: (event, metadata) => {
      if (run.ended) throw new ConfigurationError(EMITTED_LATE);
      run.outbox.emitItem(event, metadata as EmitMetadata | undefined);
    },
    onEnd: (clean) => run.cleaning.push(clean),
  };
  if (input.call !== 'run') {
    for (const name of input.call) await runHook(step, { name, component, around });
    return;
  }
  // Without a `run` of its own, a source passes on what its interface brings, byte for byte.
  if (typeof component.run !== 'function') return run.outbox.emitText(run.eventText());
  const self = bindComponent(component, around);
  await component.run.call(self, eventFor(component, { text: run.eventText(), input }), { context: contextOf(step) });
}

/** As steps have it, without what only runs of workflows do. */
function contextOf({ run: { message } }: StepRun): Record<string, unknown> {
  const { context, deadlineMs, attempt } = message;
  return { ...context, deadline: deadlineMs, attempt, test: context.test === true };
}

/** Under this name the step's record says which hook it was; the answer to whoever deploys says so too. */
export const HOOK_EXPORT = '$hook';

/** Each with a `this` of its own; what they emit and write to the db is one run's. */
async function runHook(
  step: StepRun,
  { name, component, around }: { name: Hook; component: Component; around: Surroundings },
): Promise<void> {
  const hook = component.hooks?.[name];
  if (typeof hook !== 'function') return;
  step.export(HOOK_EXPORT, name);
  await hook.call(bindComponent(component, around));
}

/** The parsed event; one that came over HTTP also has `bodyRaw`, which signature checks need. */
function eventFor(component: Component, { text, input }: { text: string; input: SourceInput }): unknown {
  const event: unknown = JSON.parse(text);
  if (!hasHttp(component, input) || !isHttpEvent(event) || 'bodyRaw' in event) return event;
  return Object.assign(event, { bodyRaw: rawBodyOf(text, event.body) });
}

function hasHttp({ props }: Component, { additionalProps }: SourceInput): boolean {
  return Object.values(allDefinitions(props, additionalProps)).some(({ type }) => type === '$.interface.http');
}

function isHttpEvent(event: unknown): event is { body: unknown } {
  if (typeof event !== 'object' || event === null) return false;
  const { method, headers } = event as Record<string, unknown>;
  return typeof method === 'string' && typeof headers === 'object';
}
