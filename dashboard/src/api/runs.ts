import { queryOptions } from '@tanstack/react-query';
import type { Run, RunWhole } from '../../../src/client/client.ts';
import { call } from './http.ts';
import { type Data, listQuery } from './list.ts';

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

export async function cancelRun(id: string): Promise<void> {
  await call('POST', `/v1/runs/${id}/cancel`);
}

export async function retryRun(id: string): Promise<{ run_id: string }> {
  return (await call<Data<{ run_id: string }>>('POST', `/v1/runs/${id}/retry`)).data;
}
