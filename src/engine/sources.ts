// Event sources: deployed from component code, their interfaces turned into triggers, their hooks run as runs, so that
// what a hook emits and remembers is committed like everything else.

import { Refusal } from '../domain/fault.ts';
import { PREFIX } from '../domain/ids.ts';
import type { SourceInput, WholeSource } from '../domain/requests.ts';
import type { Deployment } from '../domain/resource.ts';
import type { Hook } from '../runner/runner.ts';
import type { SourceWrite } from '../store/resources.ts';
import { releaseCallers } from './directs.ts';
import type { Emit } from './emit.ts';
import { runHooks } from './hooks.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { type PlannedSource, planSource, type SourcePlanDeps, shapeOfSource } from './source-plan.ts';
import { partsOf, reschedule, standingTriggers } from './triggers.ts';
import type { Waiters } from './waiters.ts';
import type { Warm } from './warm.ts';

export interface SourceDeps extends SourcePlanDeps {
  readonly emit: Emit;
  readonly waiters: Waiters;
  readonly warm: Warm;
  readonly wakeTimes: () => void;
}

/** A source that stands, with what it says of itself. */
type Standing = Omit<PlannedSource, 'deployment'>;

export function createSources(deps: SourceDeps) {
  const { store, ids, runner } = deps;
  /** Two changes at once would mix their hooks: one would switch off what the other has just switched on. */
  const changes = new OneAtATime();

  async function getSource(ownerId: string, id: string): Promise<WholeSource> {
    const source = await store.getSource(ownerId, id);
    if (!source) throw new Refusal('not_found', `there is no source ${id}`);
    return { source, triggers: await standingTriggers(store, ownerId, id) };
  }

  async function createSource(ownerId: string, input: SourceInput): Promise<WholeSource> {
    const id = input.ready?.id ?? ids.next(PREFIX.source);
    const planned = await planSource(deps, { ownerId, id }, { input, before: null });
    const isActive = input.active ?? true;
    const hooks: Hook[] = isActive ? ['deploy', 'activate'] : ['deploy'];
    return changes.do(id, async () => {
      // Its endpoints exist before the first hook, and nothing ticks before the last one.
      await store.createSource(
        written(deps, { ...planned, source: { ...planned.source, active: isActive } }, 'in hooks'),
      );
      try {
        await runHooks(deps, planned, hooks);
      } catch (error) {
        await store.deleteSource(ownerId, id);
        await releaseCallers(deps, ownerId);
        throw error;
      }
      return switchOn(planned, isActive);
    });
  }

  function updateSource(ownerId: string, id: string, input: SourceInput): Promise<WholeSource> {
    return changes.do(id, () => update({ ownerId, id }, input));
  }

  async function update(of: { ownerId: string; id: string }, input: SourceInput): Promise<WholeSource> {
    const { ownerId, id } = of;
    const before = await getSource(ownerId, id);
    const planned = await planSource(deps, of, { input, before });
    const isActive = input.active ?? before.source.active;
    const standing = await described(before);
    if (before.source.active) await runHooks(deps, standing, ['deactivate']);
    // Read again: ticks have fired while the hook ran, and must not fire again if all goes back to how it was.
    const triggers = await standingTriggers(store, ownerId, id);
    const phase = isActive ? 'in hooks' : 'off';
    await mustWrite(written(deps, { ...planned, source: { ...planned.source, active: isActive } }, phase));
    if (planned.deployment) runner.retire(before.source.deploymentId);
    if (!isActive) return switchOn(planned, false);
    try {
      await runHooks(deps, planned, ['activate']);
    } catch (error) {
      await goBack({ ...standing, triggers });
      throw error;
    }
    return switchOn(planned, true);
  }

  /** As it was before the change, switched on again by its own hook; where that throws, the run's error tells of it. */
  async function goBack(standing: Standing): Promise<void> {
    const { active } = standing.source;
    await store.updateSource(written(deps, { ...standing, deployment: null }, 'in hooks'));
    if (active) await runHooks(deps, standing, ['activate']).catch(() => undefined);
    await store.updateSource(written(deps, { ...standing, deployment: null }, active ? 'on' : 'off'));
    deps.wakeTimes();
  }

  function deleteSource(ownerId: string, id: string): Promise<WholeSource> {
    return changes.do(id, async () => {
      const whole = await getSource(ownerId, id);
      if (whole.source.active) await deactivateLast(whole);
      if (!(await store.deleteSource(ownerId, id))) throw new Refusal('not_found', `there is no source ${id}`);
      runner.retire(whole.source.deploymentId);
      await releaseCallers(deps, ownerId);
      return whole;
    });
  }

  /** Its error is recorded as every run's is, and the deletion goes on, also where the code cannot be loaded any more. */
  async function deactivateLast(whole: WholeSource): Promise<void> {
    try {
      await runHooks(deps, await described(whole), ['deactivate']);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  async function switchOn(planned: PlannedSource, isActive: boolean): Promise<WholeSource> {
    const source = { ...planned.source, active: isActive };
    await mustWrite(written(deps, { ...planned, source, deployment: null }, isActive ? 'on' : 'off'));
    if (planned.deployment) deps.warm(source, planned.deployment);
    deps.wakeTimes();
    return { source, triggers: await standingTriggers(store, source.ownerId, source.id) };
  }

  async function mustWrite(write: SourceWrite): Promise<void> {
    if (!(await store.updateSource(write))) {
      throw new Refusal('not_found', `there is no source ${write.source.id}`);
    }
  }

  async function described(whole: WholeSource): Promise<Standing> {
    const { ownerId, id, deploymentId } = whole.source;
    const deployment = await store.getDeployment(ownerId, deploymentId);
    if (!deployment) throw new Refusal('not_found', `there is no source ${id}`);
    return { ...whole, shape: await shapeOfSource(runner, deployment) };
  }

  return { getSource, createSource, updateSource, deleteSource };
}

/** Schedules tick only when it is on; while hooks run, callers who wait are answered beside them. */
type Phase = 'in hooks' | 'on' | 'off';

/** What the store writes. */
function written(
  deps: SourceDeps,
  planned: WholeSource & { deployment: Deployment | null },
  phase: Phase,
): SourceWrite {
  const { deployment } = planned;
  const settings = { ...planned.source.settings, inHooks: phase === 'in hooks' };
  const source = { ...planned.source, settings };
  const listener = { ownerId: source.ownerId, id: source.id, active: phase === 'on' };
  return { source, deployment, ...partsOf(reschedule(deps, listener, planned.triggers)) };
}
