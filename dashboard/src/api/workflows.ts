import { queryOptions } from '@tanstack/react-query';
import { call, query, send } from './http.ts';
import type { Page, Workflow } from './types.ts';

interface Data<T> {
  readonly data: T;
}

const PAGE = 100;
const MAX_PAGES = 20;

export const workflowsQuery = queryOptions({
  queryKey: ['workflows'],
  queryFn: async ({ signal }) => {
    const all: Workflow[] = [];
    let after: string | null = null;
    // Names are needed everywhere; a thousand workflows are ten requests.
    for (let page = 0; page < MAX_PAGES; page++) {
      const path = `/v1/workflows${query({ limit: PAGE, after })}`;
      const listed: Page<Workflow> = await call<Page<Workflow>>('GET', path, undefined, signal);
      all.push(...listed.data);
      after = listed.page_info.end_cursor;
      if (listed.data.length < PAGE || after === null) break;
    }
    return all;
  },
  staleTime: 30_000,
});

export function workflowQuery(id: string) {
  return queryOptions({
    queryKey: ['workflow', id],
    queryFn: async ({ signal }) => (await call<Data<Workflow>>('GET', `/v1/workflows/${id}`, undefined, signal)).data,
  });
}

export interface Deployment {
  readonly id: string;
  readonly active: boolean;
  readonly created_at: number;
  readonly steps: readonly { readonly namespace: string }[];
}

export function deploymentsQuery(id: string) {
  return queryOptions({
    queryKey: ['deployments', id],
    queryFn: async ({ signal }) =>
      (await call<Page<Deployment>>('GET', `/v1/workflows/${id}/deployments?limit=20`, undefined, signal)).data,
  });
}

export interface Subscription {
  readonly id: string;
  readonly emitter_id: string;
  readonly listener_id: string;
  readonly event_name: string;
}

/** What a workflow listens to besides its own triggers, and what listens to it. */
export function listensQuery(of: { listener_id: string } | { emitter_id: string }) {
  return queryOptions({
    queryKey: ['subscriptions', of],
    queryFn: async ({ signal }) => {
      const path = `/v1/subscriptions${query({ ...of, via: 'subscription', limit: PAGE })}`;
      return (await call<Page<Subscription>>('GET', path, undefined, signal)).data;
    },
  });
}

export async function createWorkflow(input: object): Promise<Workflow> {
  return (await call<Data<Workflow>>('POST', '/v1/workflows', input)).data;
}

export async function updateWorkflow(id: string, input: object): Promise<Workflow> {
  return (await call<Data<Workflow>>('PUT', `/v1/workflows/${id}`, input)).data;
}

export async function activateDeployment(id: string, deploymentId: string): Promise<void> {
  await call('POST', `/v1/workflows/${id}/deployments/${deploymentId}/activate`);
}

/** `event`: JSON text, which is sent as it was typed. */
export async function runWorkflow(id: string, event: string): Promise<{ run_id: string }> {
  const answer = await send('POST', `/v1/workflows/${id}/runs`, { raw: `{"event":${event}}` });
  return (JSON.parse(answer) as Data<{ run_id: string }>).data;
}
