// A source in the store, and what a change writes.

import { Refusal } from '../../domain/refusal.ts';
import type { WholeSource } from '../../domain/requests.ts';
import type { Deployment, Source } from '../../domain/resource.ts';
import type { Runner } from '../../runner/runner.ts';
import type { SourceWrite } from '../../store/contract/resources.ts';
import type { Store } from '../../store/contract/store.ts';
import { listOwnTriggers, partsOf, reschedule, type TriggerDeps } from '../resources/triggers.ts';
import { type PlannedSource, shapeOfSource } from './source-plan.ts';

/** A source in the store, with its component's description. */
export type WrittenSource = Omit<PlannedSource, 'deployment'>;

/** Schedules tick only in `on`; `in hooks`, runs whose callers wait are executed beside the hooks. */
export type Phase = 'in hooks' | 'on' | 'off';

/** Returns what the store writes. */
export function written(
  deps: TriggerDeps,
  planned: WholeSource & { deployment: Deployment | null },
  phase: Phase,
): SourceWrite {
  const { deployment } = planned;
  const goesOn = phase === 'in hooks';
  const source = { ...planned.source, settings: { ...planned.source.settings, inHooks: goesOn } };
  const listener = { ownerId: source.ownerId, id: source.id, active: phase === 'on' };
  return { source, deployment, ...partsOf(reschedule(deps, listener, planned.triggers)), goesOn };
}

/** Returns what the store writes where `deactivate` begins, or has failed: schedules tick on, and a tick is not undone. */
export function marked(source: Source, phase: 'leaving' | 'on'): SourceWrite {
  const settings = { ...source.settings, inHooks: phase === 'leaving' ? phase : false };
  const kept = { deployment: null, triggers: [], subscriptions: [], keepsTriggers: true };
  return { source: { ...source, settings }, ...kept, goesOn: phase === 'leaving' };
}

export async function wholeSource(store: Store, ownerId: string, id: string): Promise<WholeSource> {
  const source = await store.getSource(ownerId, id);
  if (!source) throw noSource(id);
  return { source, triggers: await listOwnTriggers(store, ownerId, id) };
}

export async function described(
  { store, runner }: { readonly store: Store; readonly runner: Runner },
  whole: WholeSource,
): Promise<WrittenSource> {
  const { ownerId, id, deploymentId } = whole.source;
  const deployment = await store.getDeployment(ownerId, deploymentId);
  if (!deployment) throw noSource(id);
  return { ...whole, shape: await shapeOfSource(runner, deployment) };
}

export function noSource(id: string): Refusal {
  return new Refusal('not_found', `there is no source ${id}`);
}
