// Services: programs elsewhere, by their names. Each has a workflow, which its errors belong to.

import { createHash } from 'node:crypto';
import { PREFIX, resourceIdOf } from '../../domain/ids.ts';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { DEFAULT_SETTINGS, type Workflow } from '../../domain/resource.ts';
import type { Clock, Ids } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';

export interface ServiceDeps {
  readonly store: Pick<Store, 'getWorkflow' | 'createWorkflow' | 'listWorkflows'>;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Derives the id of a service's workflow from owner and name alone: of several processes that make it at once, the primary key
 * refuses all but one. So the workflow may be renamed, and a deleted one comes back with the service's next error, with the id
 * that the service's keys and DSNs have.
 */
function serviceIdOf(ownerId: string, service: string): string {
  return resourceIdOf(PREFIX.workflow, createHash('sha256').update(`service of ${ownerId} ${service}`).digest());
}

/** Returns the workflow of a service, which is made when there is none. `beforeMaking`: awaited before it is. */
export async function findService(
  deps: ServiceDeps,
  of: { readonly ownerId: string; readonly service: string; readonly beforeMaking?: () => Promise<void> },
): Promise<Workflow> {
  const { store } = deps;
  const { ownerId, service } = of;
  const id = serviceIdOf(ownerId, service);
  const known = await store.getWorkflow(ownerId, id);
  if (known) return known;
  const { totalCount } = await store.listWorkflows({ ownerId }, { limit: 1 });
  if (totalCount >= LIMITS.workflowsWithServices) {
    const message = `is the name of no service, and there are ${totalCount} workflows: from ${LIMITS.workflowsWithServices} on, name a workflow_id`;
    throw new Refusal('impossible', `service ${message}`, { errors: [{ parameter: 'service', message }] });
  }
  await of.beforeMaking?.();
  const { workflow, deployment } = planned(deps, ownerId, { id, service });
  try {
    await store.createWorkflow({ workflow, deployment, triggers: [], subscriptions: [] });
    return workflow;
  } catch (error) {
    // Another request may have been first.
    const made = await store.getWorkflow(ownerId, id).catch(() => undefined);
    if (made) return made;
    throw error;
  }
}

/** Plans a workflow without steps and triggers, which is there for its errors. */
function planned({ clock, ids }: ServiceDeps, ownerId: string, { id, service }: { id: string; service: string }) {
  const nowMs = clock.nowMs();
  const deployment = { id: ids.next(PREFIX.deployment), ownerId, runnableId: id, steps: [], createdAtMs: nowMs };
  const workflow: Workflow = {
    id,
    ownerId,
    name: service,
    active: true,
    deploymentId: deployment.id,
    settings: DEFAULT_SETTINGS,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  return { workflow, deployment };
}
