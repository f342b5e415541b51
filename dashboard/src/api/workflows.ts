import { queryOptions } from '@tanstack/react-query';
import { type CreateWorkflowInput, etagOf, type UpdateWorkflowInput } from '../../../src/client/client.ts';
import { changes, dataOf, errand } from './errand.ts';
import { readAll } from './list.ts';
import { begun } from './runs.ts';
import type { Workflow } from './types.ts';

const LISTED = ['id', 'name', 'active'] as const satisfies readonly (keyof Workflow)[];

export type ListedWorkflow = Pick<Workflow, (typeof LISTED)[number]>;

export const workflowsQuery = queryOptions({
  queryKey: ['workflows'],
  // Names are needed everywhere; a thousand workflows are ten requests.
  queryFn: ({ signal }) =>
    readAll<ListedWorkflow>(
      (asked, options) => errand.listWorkflows({ ...asked, include: LISTED.join() }, options),
      signal,
    ),
  staleTime: 30_000,
});

/** Of the page of workflows behind `after`, by their ids; undefined: of the newest. */
export function workflowHealthQuery(after: string | undefined) {
  return queryOptions({
    queryKey: ['workflows', 'health', after ?? null],
    queryFn: async ({ signal }) => {
      const asked = { expand: 'health', include: 'id,health', limit: 100, after } as const;
      const workflows = await dataOf(errand.listWorkflows(asked, { signal }));
      return new Map(workflows.flatMap(({ id, health }) => (health ? [[id, health] as const] : [])));
    },
    staleTime: 10_000,
    refetchInterval: 30_000,
  });
}

/** A workflow, and the version of its record: a change that names it overwrites no other one. */
export type ReadWorkflow = Workflow & { readonly etag: string };

async function readWorkflow(id: string, signal?: AbortSignal): Promise<ReadWorkflow> {
  const answer = await errand.getWorkflow({ id }, { signal });
  return { ...answer.data, etag: etagOf(answer) };
}

export function workflowQuery(id: string) {
  return queryOptions({ queryKey: ['workflow', id], queryFn: ({ signal }) => readWorkflow(id, signal) });
}

/** As often as watches are judged. */
const WATCHES_AGAIN_MS = 5000;

/** The state of the watches of a workflow; `setting`: what they are made by, null when nothing is watched. */
export function watchesQuery(id: string, setting: string | null) {
  return queryOptions({
    queryKey: ['watches', id, setting],
    queryFn: ({ signal }) => dataOf(errand.listWatches({ id }, { signal })),
    refetchInterval: WATCHES_AGAIN_MS,
    enabled: setting !== null,
  });
}

export function deploymentsQuery(id: string) {
  return queryOptions({
    queryKey: ['deployments', id],
    queryFn: ({ signal }) => dataOf(errand.listDeployments({ id, limit: 20 }, { signal })),
  });
}

/** Compared with the version before it, or with `from`. */
export function changesQuery(id: string, version: string, from: string | undefined) {
  return queryOptions({
    queryKey: ['changes', id, version, from ?? null],
    queryFn: ({ signal }) => dataOf(errand.getDeploymentChanges({ id, deployment_id: version, from }, { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What a workflow listens to besides its own triggers, which stand by themselves; and all that listens to an emitter. */
export function listensQuery(of: { listener_id: string } | { emitter_id: string }) {
  return queryOptions({
    queryKey: ['subscriptions', of],
    queryFn: async ({ signal }) => {
      const kinds = 'emitter_id' in of ? (['subscription', 'trigger'] as const) : (['subscription'] as const);
      const listed = kinds.map((via) => dataOf(errand.listSubscriptions({ ...of, via, limit: 100 }, { signal })));
      return (await Promise.all(listed)).flat();
    },
  });
}

export async function createWorkflow(input: CreateWorkflowInput): Promise<Workflow> {
  return await dataOf(changes.createWorkflow(input));
}

/** Returns the workflow as it is then. It is read again: the answer to the change itself leaves out the code of the steps. */
export async function updateWorkflow(
  id: string,
  input: Omit<UpdateWorkflowInput, 'id'>,
  ifMatch?: string,
): Promise<ReadWorkflow> {
  await changes.updateWorkflow({ id, ...input }, { ifMatch });
  return readWorkflow(id);
}

export async function deleteWorkflow(id: string): Promise<void> {
  await changes.deleteWorkflow({ id });
}

export async function activateDeployment(id: string, deploymentId: string): Promise<void> {
  await changes.activateDeployment({ id, deployment_id: deploymentId });
}

/** `event`: JSON text, which is sent as it was typed. */
export async function runWorkflow(id: string, event: string): Promise<{ run_id: string }> {
  return await begun(changes.runWorkflow({ id, event: null }, { bodyText: `{"event":${event}}` }));
}
