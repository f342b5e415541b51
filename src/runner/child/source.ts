// One call of a source's component: its `run`, or one of its hooks.

import type { SourceInput } from '../runner.ts';
import { bindComponent, type Component, definitionOf } from './component.ts';
import { dataStore } from './data-store.ts';
import type { EmitMetadata } from './outbox.ts';
import { rawBodyOf } from './raw-body.ts';
import { sourceDb } from './source-db.ts';
import type { StepRun } from './step-run.ts';

export async function runSource(step: StepRun, input: SourceInput): Promise<void> {
  const { run } = step;
  const component = step.step.component as Component;
  const self = bindComponent(component, {
    configuredProps: input.configuredProps,
    endpoints: input.endpoints,
    db: sourceDb(input.db, run.dbWrites, run.program.limits.resultBytes),
    respond: (answer) => step.respond(answer),
    dataStore: (id) => dataStore(id, run.questions, run.program.limits),
    emit: (event, metadata) => {
      if (!run.ended) run.outbox.emitItem(event, metadata as EmitMetadata | undefined);
    },
  });
  if (input.call !== 'run') {
    const hook = component.hooks?.[input.call];
    if (typeof hook === 'function') await hook.call(self);
    return;
  }
  // Without a `run` of its own, a source passes on what its interface brings, byte for byte.
  if (typeof component.run !== 'function') return run.outbox.emitText(run.eventText());
  await component.run.call(self, eventFor(component, run.eventText()));
}

/** The parsed event; one that came over HTTP also has `bodyRaw`, which signature checks need. */
function eventFor(component: Component, text: string): unknown {
  const event: unknown = JSON.parse(text);
  if (!hasHttp(component) || !isHttpEvent(event) || 'bodyRaw' in event) return event;
  return Object.assign(event, { bodyRaw: rawBodyOf(text, event.body) });
}

function hasHttp(component: Component): boolean {
  return Object.values(component.props ?? {}).some((prop) => definitionOf(prop).type === '$.interface.http');
}

function isHttpEvent(event: unknown): event is { body: unknown } {
  if (typeof event !== 'object' || event === null) return false;
  const { method, headers } = event as Record<string, unknown>;
  return typeof method === 'string' && typeof headers === 'object';
}
