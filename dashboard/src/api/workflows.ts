import { queryOptions } from '@tanstack/react-query';
import type {
  Workflow as ClientWorkflow,
  Deployment,
  DeploymentChanges,
  Subscription,
} from '../../../src/client/client.ts';
import { call, exchange, query, send } from './http.ts';
import { type Data, type Listed, readAll } from './list.ts';
import type { Workflow } from './types.ts';

const LISTED = ['id', 'name', 'active'] as const satisfies readonly (keyof Workflow)[];

export type ListedWorkflow = Pick<Workflow, (typeof LISTED)[number]>;

export const workflowsQuery = queryOptions({
  queryKey: ['workflows'],
  // Names are needed everywhere; a thousand workflows are ten requests.
  queryFn: ({ signal }) => readAll<ListedWorkflow>('/v1/workflows', { include: LISTED.join() }, signal),
  staleTime: 30_000,
});

/** Of the page of workflows behind `after`, by their ids; undefined: of the newest. */
export function workflowHealthQuery(after: string | undefined) {
  return queryOptions({
    queryKey: ['workflows', 'health', after ?? null],
    queryFn: async ({ signal }) => {
      const asked = { expand: 'health', include: 'id,health', limit: 100, after };
      const path = `/v1/workflows${query(asked)}`;
      const { data } = await call<Listed<Pick<ClientWorkflow, 'id' | 'health'>>>('GET', path, undefined, signal);
      return new Map(data.flatMap(({ id, health }) => (health ? [[id, health] as const] : [])));
    },
    staleTime: 10_000,
    refetchInterval: 30_000,
  });
}

/** A workflow, and the version of its record: a change that names it overwrites no other one. */
export type ReadWorkflow = Workflow & { readonly etag: string | null };

async function readWorkflow(id: string, signal?: AbortSignal): Promise<ReadWorkflow> {
  const { text, etag } = await exchange('GET', `/v1/workflows/${id}`, { signal });
  return { ...(JSON.parse(text) as Data<Workflow>).data, etag };
}

export function workflowQuery(id: string) {
  return queryOptions({ queryKey: ['workflow', id], queryFn: ({ signal }) => readWorkflow(id, signal) });
}

export function deploymentsQuery(id: string) {
  return queryOptions({
    queryKey: ['deployments', id],
    queryFn: async ({ signal }) =>
      (await call<Listed<Deployment>>('GET', `/v1/workflows/${id}/deployments?limit=20`, undefined, signal)).data,
  });
}

/** Compared with the version before it, or with `from`. */
export function changesQuery(id: string, version: string, from: string | undefined) {
  return queryOptions({
    queryKey: ['changes', id, version, from ?? null],
    queryFn: async ({ signal }) => {
      const path = `/v1/workflows/${id}/deployments/${version}/changes${query({ from })}`;
      return (await call<Data<DeploymentChanges>>('GET', path, undefined, signal)).data;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What a workflow listens to besides its own triggers, and what listens to it. */
export function listensQuery(of: { listener_id: string } | { emitter_id: string }) {
  return queryOptions({
    queryKey: ['subscriptions', of],
    queryFn: async ({ signal }) => {
      const path = `/v1/subscriptions${query({ ...of, via: 'subscription', limit: 100 })}`;
      return (await call<Listed<Subscription>>('GET', path, undefined, signal)).data;
    },
  });
}

export async function createWorkflow(input: object): Promise<Workflow> {
  return (await call<Data<Workflow>>('POST', '/v1/workflows', input)).data;
}

/** Returns the workflow as it is then. It is read again: the answer to the change itself leaves out the code of the steps. */
export async function updateWorkflow(id: string, input: object, ifMatch?: string | null): Promise<ReadWorkflow> {
  await send('PUT', `/v1/workflows/${id}`, { body: input, ifMatch });
  return readWorkflow(id);
}

export async function activateDeployment(id: string, deploymentId: string): Promise<void> {
  await call('POST', `/v1/workflows/${id}/deployments/${deploymentId}/activate`);
}

/** `event`: JSON text, which is sent as it was typed. */
export async function runWorkflow(id: string, event: string): Promise<{ run_id: string }> {
  const answer = await send('POST', `/v1/workflows/${id}/runs`, { raw: `{"event":${event}}` });
  return (JSON.parse(answer) as Data<{ run_id: string }>).data;
}
