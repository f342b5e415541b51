import { queryOptions } from '@tanstack/react-query';
import { type Run, type RunWhole, type Started, textOf } from '../../../src/client/client.ts';
import { T } from '../english.ts';
import { parseNumbers, written } from '../errors/event-text.ts';
import { beginOf, type Period } from '../parts/period.ts';
import { changes, dataOf, errand, exactDataOf } from './errand.ts';
import { listQuery } from './list.ts';

export interface RunFilter {
  readonly workflow_id?: string;
  readonly source_id?: string;
  readonly state?: Run['state'] | undefined;
}

/** Of all runs: what the list of them is limited to. */
export interface AllRunsFilter {
  readonly state?: Run['state'];
  /** A part of `$summary` or of the event. */
  readonly q?: string;
  /** A workflow or a source. */
  readonly emitter?: string;
  /** Of runs that failed: the code of the error. */
  readonly code?: string;
  /** Created within the period. */
  readonly within?: Period;
}

/** Runs end without telling this page. */
const AGAIN_MS = 4000;
const OPEN: readonly Run['state'][] = ['queued', 'running', 'waiting'];

export function isOpen({ state }: Pick<Run, 'state'>): boolean {
  return OPEN.includes(state);
}

export function runsQuery(filter: RunFilter) {
  return listQuery({
    key: ['runs'],
    read: (asked, options) => errand.searchRuns(asked, options),
    filter: { ...filter },
    againMs: AGAIN_MS,
  });
}

/** A search for a text reads many runs: it is not made again by itself. */
export function allRunsQuery({ state, q, emitter, code, within }: AllRunsFilter) {
  const of = emitter?.startsWith('dc_') ? 'source_id' : 'workflow_id';
  return listQuery({
    key: ['runs', 'all'],
    // From now back, whenever it is asked for again.
    read: ({ within: period, ...asked }, options) =>
      errand.searchRuns(period === undefined ? asked : { ...asked, since: beginOf(period) }, options),
    filter: { state, text: q, [of]: emitter, error_code: code, within },
    keepsPrevious: true,
    againMs: q === undefined ? AGAIN_MS : undefined,
  });
}

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }) => exactDataOf(errand.getRun({ id }, { signal })),
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
      const runs = await dataOf(errand.searchRuns({ workflow_id: workflowId, limit: 5 }, { signal }));
      const ended = runs.find((run) => !isOpen(run));
      return ended ? await dataOf(errand.getRun({ id: ended.id }, { signal })) : null;
    },
    staleTime: LAST_RUN_MS,
    retry: false,
  });
}

const LAST_EVENTS = 20;

/** The newest runs of a workflow or source, by whose events it may run again. */
export function lastEventsQuery(id: string) {
  const of = id.startsWith('dc_') ? { source_id: id } : { workflow_id: id };
  return queryOptions({
    queryKey: ['runs', 'last-events', id],
    queryFn: ({ signal }) => dataOf(errand.searchRuns({ ...of, limit: LAST_EVENTS }, { signal })),
  });
}

/** The event of a run as JSON text, whose numbers are as they came. */
export function runEventQuery(id: string) {
  return queryOptions({
    queryKey: ['run-event', id],
    queryFn: async ({ signal }) => {
      const text = textOf(await errand.getRun({ id }, { signal }));
      return written((parseNumbers(text) as { data: RunWhole }).data.event);
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Returns the run that a call started. Throws when none began: the queue of the workflow is full. */
export async function begun(call: Promise<{ readonly data: Started }>): Promise<{ run_id: string }> {
  const { run_id } = await dataOf(call);
  if (run_id === null) throw new Error(T.runs.noneBegan);
  return { run_id };
}

export async function cancelRun(id: string): Promise<void> {
  await changes.cancelRun({ id });
}

/** `data`: JSON text, which is sent as it was typed; empty: null. */
export async function resumeRun(id: string, data: string): Promise<void> {
  await changes.resumeRun({ id }, { bodyText: data.trim() === '' ? '{}' : `{"data":${data}}` });
}

/** `again`: also when its event was run again before. */
export async function retryRun(id: string, again = false): Promise<{ run_id: string }> {
  return await begun(changes.retryRun({ id, ...(again ? { again } : {}) }));
}
