import { queryOptions } from '@tanstack/react-query';
import type { Operation, ReplayDryRun, ReplayErrorsInput, ReplayResult } from '../../../src/client/client.ts';
import { call } from './http.ts';
import { type Data, listQuery } from './list.ts';

/** Operations go on without telling this page. */
const AGAIN_MS = 1500;

export function operationsQuery(kind: Operation['kind'] | undefined) {
  return listQuery<Operation>({ key: ['operations'], path: '/v1/operations', filter: { kind }, againMs: AGAIN_MS });
}

export function isUnderWay({ state }: Pick<Operation, 'state'>): boolean {
  return state === 'running' || state === 'paused';
}

export function operationQuery(id: string) {
  return queryOptions({
    queryKey: ['operation', id],
    queryFn: async ({ signal }) => (await call<Data<Operation>>('GET', `/v1/operations/${id}`, undefined, signal)).data,
    refetchInterval: (query) => (query.state.data && !isUnderWay(query.state.data) ? false : AGAIN_MS),
  });
}

export type Outcome = ReplayResult['outcome'];

export function resultsQuery(id: string, outcome: Outcome | undefined, isOver: boolean) {
  const path = `/v1/operations/${id}/results`;
  const againMs = isOver ? undefined : AGAIN_MS;
  // Another key when it is over: what was read before the end is read once more.
  const key = ['results', id, isOver ? 'over' : 'under way'];
  return listQuery<ReplayResult>({ key, path, filter: { outcome }, againMs, keepsPrevious: true });
}

export async function changeOperation(id: string, verb: 'pause' | 'resume' | 'cancel'): Promise<void> {
  await call('POST', `/v1/operations/${id}/${verb}`);
}

export type Replays = Omit<ReplayErrorsInput, 'dry_run'>;

/** Tells what a replay would do; nothing is made. */
export function dryRunQuery(replays: Replays) {
  return queryOptions({
    queryKey: ['dry-run', replays],
    queryFn: async ({ signal }) => {
      const body = { ...replays, dry_run: true };
      return (await call<Data<ReplayDryRun>>('POST', '/v1/replays', body, signal)).data;
    },
    placeholderData: (before) => before,
  });
}

export async function startReplays(replays: Replays): Promise<Operation> {
  return (await call<Data<Operation>>('POST', '/v1/replays', replays)).data;
}
