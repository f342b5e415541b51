// Event sources: deployed from component code, their interfaces as triggers, their hooks as runs, so that emissions and
// ids of a hook are committed like those of any run.
//
// A change is several transactions with hooks between them. source-repairs.ts finishes a change that a killed process left:
// it reads the row (`inHooks`: the change is written), and the runs of hooks since.

import { PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { SourceInput, WholeSource } from '../../domain/requests.ts';
import { checkVersion } from '../../domain/requests.ts';
import type { ListenerInput, Subscription } from '../../domain/resource.ts';
import type { Wake } from '../../ports.ts';
import type { Hook } from '../../runner/runner.ts';
import type { SourceWrite } from '../../store/contract/resources.ts';
import type { Emit } from '../accept/emit.ts';
import type { Waiters } from '../accept/waiters.ts';
import { newSubscription } from '../resources/subscriptions.ts';
import { listOwnTriggers, type TriggerDeps } from '../resources/triggers.ts';
import { releaseCallers } from '../runs/manual-runs.ts';
import type { Warm } from '../runs/warm.ts';
import { runHooks } from './hooks.ts';
import type { LastHooks } from './last-hooks.ts';
import type { SourceChanges } from './source-changes.ts';
import { type PlannedSource, planSource, type SourcePlanDeps } from './source-plan.ts';
import { described, marked, noSource, type WrittenSource, wholeSource, written } from './source-writes.ts';

export interface SourceDeps extends SourcePlanDeps {
  readonly emit: Emit;
  readonly waiters: Waiters;
  readonly changes: SourceChanges;
  readonly lastHooks: Pick<LastHooks, 'run'>;
  readonly warm: Warm;
  readonly wake: Wake;
}

export function createSources(deps: SourceDeps) {
  const { store, ids, runner, changes } = deps;

  const getSource = (ownerId: string, id: string): Promise<WholeSource> => wholeSource(store, ownerId, id);

  async function createSource(ownerId: string, input: SourceInput): Promise<WholeSource> {
    const id = input.ready?.id ?? ids.next(PREFIX.source);
    const planned = await planSource(deps, { ownerId, id }, { input, before: null });
    const isActive = input.active ?? true;
    const listeners = listenersOf({ ownerId, id }, input.listeners ?? []);
    const hooks: Hook[] = isActive ? ['deploy', 'activate'] : ['deploy'];
    return changes.do({ ownerId, sourceId: id, kind: 'create' }, async () => {
      // Its endpoints exist before the first hook; its schedules do not tick before the last one.
      const missing = await store.createSource({
        ...written(deps, { ...planned, source: { ...planned.source, active: isActive } }, 'in hooks'),
        listeners,
      });
      if (missing !== null) throw noListener(listeners, missing);
      try {
        await runHooks(deps, { ...planned, creates: true }, hooks);
      } catch (error) {
        // When storage has failed, the effect of the hooks is unknown.
        if (!(error instanceof Refusal)) throw error;
        await store.deleteSource(ownerId, id);
        await releaseCallers(deps, ownerId);
        throw error;
      }
      return switchOn(planned, isActive);
    });
  }

  function listenersOf(of: { ownerId: string; id: string }, asked: readonly ListenerInput[]): Subscription[] {
    const listeners = asked.map((one) => newSubscription(deps, of.ownerId, { ...one, emitterId: of.id }));
    const known = new Set<string>();
    for (const [at, { listenerId, eventName }] of listeners.entries()) {
      const key = JSON.stringify([listenerId, eventName]);
      if (known.has(key)) throw refusedListener('malformed', at, `names ${listenerId} with the same event_name again`);
      known.add(key);
    }
    return listeners;
  }

  function updateSource(ownerId: string, id: string, input: SourceInput): Promise<WholeSource> {
    return changes.do({ ownerId, sourceId: id, kind: 'update' }, () => update({ ownerId, id }, input));
  }

  async function update(of: { ownerId: string; id: string }, input: SourceInput): Promise<WholeSource> {
    const { ownerId, id } = of;
    const before = await getSource(ownerId, id);
    // No other change is under way: this one holds the mark.
    checkVersion(before.source, input.expected);
    const planned = await planSource(deps, of, { input, before });
    const isActive = input.active ?? before.source.active;
    const whole = await described(deps, before);
    if (before.source.active) await leave(whole);
    // Read again: ticks fired during the hook must not fire again when the change is undone.
    const triggers = await listOwnTriggers(store, ownerId, id);
    const phase = isActive ? 'in hooks' : 'off';
    await mustWrite(written(deps, { ...planned, source: { ...planned.source, active: isActive } }, phase));
    if (planned.deployment) runner.retire(before.source.deploymentId);
    if (!isActive) return getSource(ownerId, id);
    try {
      await runHooks(deps, planned, ['activate']);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await goBack({ ...whole, triggers });
      throw error;
    }
    return switchOn(planned, true);
  }

  /** Runs its last hook before a change. When that throws, the source stays as it was. */
  async function leave(whole: WrittenSource): Promise<void> {
    try {
      await runLastHook(deps, whole);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await store.updateSource(marked(whole.source, 'on'));
      throw error;
    }
  }

  /** Restores the source, and enables it by its own hook; if that throws, the run has the error. */
  async function goBack(whole: WrittenSource): Promise<void> {
    const { active } = whole.source;
    if (active) {
      const isHeld = await store.updateSource(written(deps, { ...whole, deployment: null }, 'in hooks'));
      // The node that took over the change enables the source.
      if (!isHeld) return;
      await orRefused(runHooks(deps, whole, ['activate']));
    }
    await store.updateSource(written(deps, { ...whole, deployment: null }, active ? 'on' : 'off'));
    deps.wake.notify('schedules');
  }

  function deleteSource(ownerId: string, id: string): Promise<WholeSource> {
    return changes.do({ ownerId, sourceId: id, kind: 'delete' }, async () => {
      const whole = await getSource(ownerId, id);
      if (whole.source.active) await deactivateLast(deps, whole);
      if (!(await store.deleteSource(ownerId, id))) throw await takenOver(ownerId, id);
      runner.retire(whole.source.deploymentId);
      await releaseCallers(deps, ownerId);
      return whole;
    });
  }

  async function switchOn(planned: PlannedSource, isActive: boolean): Promise<WholeSource> {
    const source = { ...planned.source, active: isActive };
    await mustWrite(written(deps, { ...planned, source, deployment: null }, isActive ? 'on' : 'off'));
    if (planned.deployment) deps.warm(source, planned.deployment);
    deps.wake.notify('schedules');
    return { source, triggers: await listOwnTriggers(store, source.ownerId, source.id) };
  }

  async function mustWrite(write: SourceWrite): Promise<void> {
    const { ownerId, id } = write.source;
    if (!(await store.updateSource(write))) throw await takenOver(ownerId, id);
  }

  /** Refuses, since another node took over the change while this process was paused or disconnected for too long. */
  async function takenOver(ownerId: string, id: string): Promise<Refusal> {
    if (!(await store.getSource(ownerId, id))) return noSource(id);
    return new Refusal('conflict', `this change of ${id} was interrupted: read the source, then try again`);
  }

  return { getSource, createSource, updateSource, deleteSource };
}

function noListener(listeners: readonly Subscription[], missing: string): Refusal {
  const at = listeners.findIndex(({ listenerId }) => listenerId === missing);
  return refusedListener('not_found', at, `names ${missing}, which does not exist`);
}

function refusedListener(code: 'malformed' | 'not_found', at: number, message: string): Refusal {
  const parameter = `listeners[${at}]`;
  return new Refusal(code, `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

/** Runs the last hook. Its error is recorded like a run's, and the deletion continues, also when the code cannot be loaded. */
export async function deactivateLast(deps: LastHookDeps, whole: WholeSource): Promise<void> {
  if (await deps.lastHooks.run(whole)) return;
  await orRefused(described(deps, whole).then((whole) => runLastHook(deps, whole)));
}

/** Runs `deactivate`. Calls of its address are answered meanwhile: vendors ask whether they may forget it. */
async function runLastHook(deps: LastHookDeps, whole: WrittenSource): Promise<void> {
  if (!whole.shape.hooks.includes('deactivate')) return;
  if (whole.triggers.some(({ trigger }) => trigger?.kind === 'http')) {
    const isHeld = await deps.store.updateSource(marked(whole.source, 'leaving'));
    // The node that took over the change runs the hook.
    if (!isHeld) return;
  }
  await runHooks(deps, whole, ['deactivate']);
}

type LastHookDeps = Pick<SourceDeps, 'store' | 'emit' | 'runner' | 'lastHooks'> & TriggerDeps;

async function orRefused(done: Promise<void>): Promise<void> {
  await done.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
  });
}
