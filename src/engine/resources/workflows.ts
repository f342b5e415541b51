// Workflows: creating, changing, rolling back, deleting.

import { PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { WholeWorkflow, WorkflowInput } from '../../domain/requests.ts';
import { checkVersion, nextVersion } from '../../domain/requests.ts';
import { DEFAULT_SETTINGS, type Deployment, type Workflow } from '../../domain/resource.ts';
import type { Wake } from '../../ports.ts';
import type { Runner } from '../../runner/runner.ts';
import type { WorkflowWrite } from '../../store/contract/resources.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Waiters } from '../accept/waiters.ts';
import type { PropsDeps } from '../components/component-props.ts';
import { isSameProps, withStepProps } from '../components/step-props.ts';
import { checkChannels } from '../notices/channels.ts';
import { releaseCallers } from '../runs/manual-runs.ts';
import type { Warm } from '../runs/warm.ts';
import { type CodeDeps, isSameCode, makeDeployment, readSteps } from './bundle.ts';
import { listOwnTriggers, partsOf, planTriggers, reschedule } from './triggers.ts';

export interface WorkflowDeps extends CodeDeps, PropsDeps {
  readonly store: Store;
  readonly runner: Runner;
  readonly wake: Wake;
  readonly waiters: Waiters;
  readonly warm: Warm;
}

/** What a file declares; with the other workflows that may have its name. */
export interface NamedInput extends WorkflowInput, Pick<WorkflowWrite, 'onlyNamed'> {}

export type Workflows = ReturnType<typeof createWorkflows>;

interface WorkflowChange {
  /** The new deployment; null: the code stays. */
  readonly made: Deployment | null;
  readonly onlyNamed?: NamedInput['onlyNamed'];
}

export function createWorkflows(deps: WorkflowDeps) {
  const { store, clock, ids, runner } = deps;

  async function getWorkflow(ownerId: string, id: string): Promise<WholeWorkflow> {
    const workflow = await store.getWorkflow(ownerId, id);
    const deployment = workflow && (await store.getDeployment(ownerId, workflow.deploymentId));
    if (!workflow || !deployment) throw new Refusal('not_found', `there is no workflow ${id}`);
    return { workflow, deployment, triggers: await listOwnTriggers(store, ownerId, id) };
  }

  async function createWorkflow(ownerId: string, input: NamedInput): Promise<WholeWorkflow> {
    const whole = await planned(ownerId, input);
    const { workflow, deployment, triggers } = whole;
    await store.createWorkflow({ workflow, deployment, ...partsOf(triggers), onlyNamed: input.onlyNamed });
    deps.warm(workflow, deployment);
    deps.wake.notify('schedules');
    return whole;
  }

  /** Throws the refusal that creating the workflow would end with, and stores nothing. */
  async function checkWorkflow(ownerId: string, input: WorkflowInput): Promise<void> {
    await planned(ownerId, input);
  }

  /** Returns the workflow as it would be created. */
  async function planned(ownerId: string, input: NamedInput): Promise<WholeWorkflow> {
    await checkChannels(store, ownerId, { ids: input.settings?.channels, parameter: 'settings.channels' });
    const id = input.ready?.runnableId ?? ids.next(PREFIX.workflow);
    const steps = await readSteps(deps, input.steps ?? []);
    const deployment = input.ready ?? (await deployed({ ownerId, id, previous: null }, { ...input, steps }));
    const nowMs = clock.nowMs();
    const workflow: Workflow = {
      id,
      ownerId,
      name: input.name ?? id,
      active: input.active ?? true,
      deploymentId: deployment.id,
      settings: { ...DEFAULT_SETTINGS, ...input.settings },
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const triggers = await planTriggers(deps, workflow, { inputs: input.triggers ?? [], existing: [] });
    return { workflow, deployment, triggers };
  }

  async function deployed(
    of: { ownerId: string; id: string; previous: Deployment | null },
    { steps = [], settings }: Pick<WorkflowInput, 'steps' | 'settings'>,
  ): Promise<Deployment> {
    const made = await makeDeployment(deps, of, steps);
    return withStepProps(deps, made, { inputs: steps, previous: of.previous, env: settings?.env });
  }

  async function updateWorkflow(ownerId: string, id: string, input: NamedInput): Promise<WholeWorkflow> {
    return changeAsItIs(ownerId, id, (before) => changed(before, input));
  }

  /** Makes a change of a workflow as it is; once more when another change was made meanwhile, of which nothing may be lost. */
  async function changeAsItIs(
    ownerId: string,
    id: string,
    change: (before: WholeWorkflow) => Promise<WholeWorkflow | null>,
  ): Promise<WholeWorkflow> {
    for (;;) {
      const after = await change(await getWorkflow(ownerId, id));
      if (after) return after;
    }
  }

  /** Returns the workflow as it is now; null, and nothing is written, when another change came first. */
  async function changed(before: WholeWorkflow, input: NamedInput): Promise<WholeWorkflow | null> {
    const { ownerId, id } = before.workflow;
    checkVersion(before.workflow, input.expected);
    await checkChannels(store, ownerId, { ids: input.settings?.channels, parameter: 'settings.channels' });
    const steps = input.steps && (await readSteps(deps, input.steps));
    const isNew =
      steps !== undefined && !(isSameCode(before.deployment, steps) && isSameProps(before.deployment, steps));
    const env = before.workflow.settings.env;
    const made = isNew
      ? await deployed({ ownerId, id, previous: before.deployment }, { steps, settings: { env, ...input.settings } })
      : (input.ready ?? null);
    const deployment = made ?? before.deployment;
    const workflow: Workflow = {
      ...before.workflow,
      name: input.name ?? before.workflow.name,
      active: input.active ?? before.workflow.active,
      deploymentId: deployment.id,
      settings: { ...before.workflow.settings, ...input.settings },
      updatedAtMs: nextVersion(before.workflow, clock.nowMs()),
    };
    const planned =
      input.triggers === undefined
        ? before.triggers
        : await planTriggers(deps, workflow, { inputs: input.triggers, existing: before.triggers });
    const triggers = reschedule(deps, workflow, planned);
    const after = { workflow, deployment, triggers };
    return (await write(before, after, { made, onlyNamed: input.onlyNamed })) ? after : null;
  }

  /** Returns false, and writes nothing, when the workflow is not as it was `before` any more. */
  async function write(before: WholeWorkflow, after: WholeWorkflow, change: WorkflowChange): Promise<boolean> {
    const { made, onlyNamed } = change;
    const { workflow, triggers } = after;
    const written = await store.updateWorkflow({
      workflow,
      deployment: made,
      ...partsOf(triggers),
      ifUpdatedAtMs: before.workflow.updatedAtMs,
      onlyNamed,
    });
    if (!written) {
      const { id, deploymentId } = workflow;
      const now = await store.getWorkflow(workflow.ownerId, id);
      if (now && now.updatedAtMs !== before.workflow.updatedAtMs) return false;
      throw new Refusal('not_found', `there is no workflow ${id}, or no deployment ${deploymentId} of it, any more`);
    }
    // A process gets environment and memory at its start, so a change of either replaces the process.
    const isSameProcess =
      before.deployment.id === workflow.deploymentId &&
      JSON.stringify(before.workflow.settings) === JSON.stringify(workflow.settings);
    if (!isSameProcess) runner.retire(before.deployment.id);
    if (!isSameProcess || !before.workflow.active) deps.warm(workflow, after.deployment);
    deps.wake.notify('schedules');
    // The change may let more runs begin, or let them begin earlier.
    deps.wake.notify('runs');
    return true;
  }

  async function activateDeployment(ownerId: string, id: string, deploymentId: string): Promise<WholeWorkflow> {
    return changeAsItIs(ownerId, id, async (before) => {
      const deployment = await store.getDeployment(ownerId, deploymentId);
      if (deployment?.runnableId !== id) {
        throw new Refusal('not_found', `workflow ${id} has no deployment ${deploymentId}`);
      }
      const updatedAtMs = nextVersion(before.workflow, clock.nowMs());
      const workflow = { ...before.workflow, deploymentId, updatedAtMs };
      const after = { workflow, deployment, triggers: before.triggers };
      return (await write(before, after, { made: null })) ? after : null;
    });
  }

  async function deleteWorkflow(ownerId: string, id: string): Promise<WholeWorkflow> {
    const whole = await getWorkflow(ownerId, id);
    const owner = await store.getOwner(ownerId);
    if (owner?.globalErrorWorkflowId === id) {
      throw new Refusal('conflict', `${id} is the global error workflow: name another one first (PUT /v1/users/me)`);
    }
    if (!(await store.deleteWorkflow(ownerId, id))) throw new Refusal('not_found', `there is no workflow ${id}`);
    runner.retire(whole.deployment.id);
    await releaseCallers(deps, ownerId);
    return whole;
  }

  return { getWorkflow, createWorkflow, checkWorkflow, updateWorkflow, activateDeployment, deleteWorkflow };
}
