import { queryOptions } from '@tanstack/react-query';
import type { Run, RunWhole } from '../../../src/client/client.ts';
import { parseEvent, written } from '../errors/event-text.ts';
import { call, query, send } from './http.ts';
import { type Data, type Listed, listQuery } from './list.ts';

export interface RunFilter {
  readonly workflow_id?: string;
  readonly source_id?: string;
  readonly state?: Run['state'] | undefined;
}

/** Runs end without telling this page. */
const AGAIN_MS = 4000;
const OPEN: readonly string[] = ['queued', 'running', 'waiting'];

export function isOpen({ state }: Pick<Run, 'state'>): boolean {
  return OPEN.includes(state);
}

export function runsQuery(filter: RunFilter) {
  return listQuery<Run>({ key: ['runs'], path: '/v1/runs', filter: { ...filter }, againMs: AGAIN_MS });
}

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id],
    queryFn: async ({ signal }) => (await call<Data<RunWhole>>('GET', `/v1/runs/${id}`, undefined, signal)).data,
    refetchInterval: (query) => (query.state.data && !isOpen(query.state.data) ? false : 1000),
  });
}

/** The editor shows what the last run had; one that is some seconds old does. */
const LAST_RUN_MS = 10_000;

/** The newest run of a workflow that has ended; null: none has. */
export function lastRunQuery(workflowId: string) {
  return queryOptions({
    queryKey: ['last-run', workflowId],
    queryFn: async ({ signal }) => {
      const path = `/v1/runs${query({ workflow_id: workflowId, limit: 5 })}`;
      const { data } = await call<Data<Run[]>>('GET', path, undefined, signal);
      const ended = data.find((run) => !isOpen(run));
      return ended ? (await call<Data<RunWhole>>('GET', `/v1/runs/${ended.id}`, undefined, signal)).data : null;
    },
    staleTime: LAST_RUN_MS,
    retry: false,
  });
}

const LAST_EVENTS = 20;

/** The newest runs of a workflow, by whose events it may run again. */
export function lastEventsQuery(workflowId: string) {
  return queryOptions({
    queryKey: ['runs', 'last-events', workflowId],
    queryFn: async ({ signal }) => {
      const path = `/v1/runs${query({ workflow_id: workflowId, limit: LAST_EVENTS })}`;
      return (await call<Listed<Run>>('GET', path, undefined, signal)).data;
    },
  });
}

/** The event of a run as JSON text, whose numbers are as they came. */
export function runEventQuery(id: string) {
  return queryOptions({
    queryKey: ['run-event', id],
    queryFn: async ({ signal }) => {
      const answer = parseEvent(await send('GET', `/v1/runs/${id}`, { signal }))?.value as Data<RunWhole>;
      return written(answer.data.event);
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export async function cancelRun(id: string): Promise<void> {
  await call('POST', `/v1/runs/${id}/cancel`);
}

/** `data`: JSON text, which is sent as it was typed; empty: null. */
export async function resumeRun(id: string, data: string): Promise<void> {
  await send('POST', `/v1/runs/${id}/resume`, { raw: data.trim() === '' ? '{}' : `{"data":${data}}` });
}

export async function retryRun(id: string): Promise<{ run_id: string }> {
  return (await call<Data<{ run_id: string }>>('POST', `/v1/runs/${id}/retry`)).data;
}
