import { queryOptions } from '@tanstack/react-query';
import type { Operation, ReplayDryRun, ReplayErrorsInput, ReplayResult } from '../../../src/client/client.ts';
import { changes, dataOf, errand } from './errand.ts';
import { listQuery } from './list.ts';

/** Operations go on without telling this page. */
const AGAIN_MS = 1500;

export function operationsQuery(kind: Operation['kind'] | undefined) {
  return listQuery({
    key: ['operations'],
    read: (asked, options) => errand.listOperations(asked, options),
    filter: { kind },
    againMs: AGAIN_MS,
  });
}

export function isUnderWay({ state }: Pick<Operation, 'state'>): boolean {
  return state === 'running' || state === 'paused';
}

export function operationQuery(id: string) {
  return queryOptions({
    queryKey: ['operation', id],
    queryFn: ({ signal }) => dataOf(errand.getOperation({ id }, { signal })),
    refetchInterval: (query) => (query.state.data && !isUnderWay(query.state.data) ? false : AGAIN_MS),
  });
}

export type Outcome = ReplayResult['outcome'];

export function resultsQuery(id: string, outcome: Outcome | undefined, isOver: boolean) {
  const againMs = isOver ? undefined : AGAIN_MS;
  // Another key when it is over: what was read before the end is read once more.
  const key = ['results', id, isOver ? 'over' : 'under way'];
  return listQuery({
    key,
    read: (asked, options) => errand.listReplayResults({ id, ...asked }, options),
    filter: { outcome },
    againMs,
    keepsPrevious: true,
  });
}

export async function changeOperation(id: string, verb: 'pause' | 'resume' | 'cancel'): Promise<void> {
  if (verb === 'pause') await changes.pauseOperation({ id });
  else if (verb === 'resume') await changes.resumeOperation({ id });
  else await changes.cancelOperation({ id });
}

export type Replays = Omit<ReplayErrorsInput, 'dry_run'>;

/** Tells what a replay would do; nothing is made. */
export function dryRunQuery(replays: Replays) {
  return queryOptions({
    queryKey: ['dry-run', replays],
    queryFn: async ({ signal }) =>
      (await dataOf(errand.replayErrors({ ...replays, dry_run: true }, { signal }))) as ReplayDryRun,
    placeholderData: (before) => before,
  });
}

export async function startReplays(replays: Replays): Promise<Operation> {
  return (await dataOf(changes.replayErrors(replays))) as Operation;
}
