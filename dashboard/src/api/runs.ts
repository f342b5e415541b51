import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { call, query } from './http.ts';
import type { Fault, Page, Receipt } from './types.ts';

export interface Run {
  readonly id: string;
  readonly workflow_id?: string;
  readonly source_id?: string;
  readonly deployment_id: string;
  readonly state: string;
  readonly waiting?: { readonly kind: string; readonly until_ms: number | null } | null;
  readonly attempt: number;
  readonly replay: boolean;
  readonly emitter_id: string;
  readonly event_name: string;
  readonly summary?: string | null;
  readonly created_at_ms: number;
  readonly started_at_ms: number | null;
  readonly ended_at_ms: number | null;
  readonly error_id: string | null;
  readonly retried_by?: string | null;
  readonly error?: Partial<Fault> | null;
}

export interface RunStep {
  readonly id: string;
  readonly namespace: string;
  readonly state: string;
  readonly started_at_ms: number | null;
  readonly took_ms: number | null;
  readonly return_value?: unknown;
  readonly exports?: Readonly<Record<string, unknown>>;
}

export interface WholeRun extends Run {
  readonly event: unknown;
  readonly steps: readonly RunStep[];
  readonly logs: readonly {
    readonly ts_ms: number;
    readonly level: string;
    readonly namespace: string;
    readonly text: string;
  }[];
  readonly log_bytes_dropped?: number;
  readonly exit_reason?: string | null;
  readonly caused_by?: {
    readonly emission_id: string;
    readonly run_id: string | null;
    readonly summary: string | null;
  } | null;
  readonly causes: readonly Receipt[];
}

interface Data<T> {
  readonly data: T;
}

export interface RunFilter {
  readonly workflow?: string;
  readonly state?: string;
  readonly q?: string;
}

const RUNS_PER_PAGE = 50;
/** Runs end without telling this page. */
const AGAIN_MS = 4000;
const OPEN: readonly string[] = ['queued', 'running', 'waiting'];

export function isOpen({ state }: Pick<Run, 'state'>): boolean {
  return OPEN.includes(state);
}

export function runsQuery({ workflow, state, q }: RunFilter) {
  const of = { workflow_id: workflow, state, text: q, limit: RUNS_PER_PAGE };
  return infiniteQueryOptions({
    queryKey: ['runs', of],
    queryFn: ({ pageParam, signal }) =>
      call<Page<Run>>('GET', `/v1/runs${query({ ...of, after: pageParam })}`, undefined, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.data.length === 0 ? null : (last.page_info.next_cursor ?? null)),
    refetchInterval: AGAIN_MS,
  });
}

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['run', id],
    queryFn: async ({ signal }) => (await call<Data<WholeRun>>('GET', `/v1/runs/${id}`, undefined, signal)).data,
    refetchInterval: (query) => (query.state.data && !isOpen(query.state.data) ? false : 1000),
  });
}

export async function cancelRun(id: string): Promise<void> {
  await call('POST', `/v1/runs/${id}/cancel`);
}

export async function retryRun(id: string): Promise<{ run_id: string }> {
  return (await call<Data<{ run_id: string }>>('POST', `/v1/runs/${id}/retry`)).data;
}
