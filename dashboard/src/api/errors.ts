import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Differences } from '../../../src/client/client.ts';
import { call, query, send } from './http.ts';
import type { ErrorGroup, ErrorGroupWhole, ErrorRecord, Fixture, GroupState, Page } from './types.ts';

interface Data<T> {
  readonly data: T;
}

export interface GroupFilter {
  readonly state?: GroupState;
  readonly q?: string;
  readonly emitter?: string;
  readonly sort?: 'last_seen' | 'count';
}

const GROUPS_PER_PAGE = 50;

export function groupsQuery({ state, q, emitter, sort }: GroupFilter) {
  const of = { state, text: q, emitter_id: emitter, sort, expand: 'hours', limit: GROUPS_PER_PAGE };
  return infiniteQueryOptions({
    queryKey: ['groups', of],
    queryFn: ({ pageParam, signal }) =>
      call<Page<ErrorGroup>>('GET', `/v1/error_groups${query({ ...of, after: pageParam })}`, undefined, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.data.length < GROUPS_PER_PAGE ? null : last.page_info.end_cursor),
    placeholderData: keepPreviousData,
  });
}

export function groupQuery(id: string) {
  return queryOptions({
    queryKey: ['group', id],
    queryFn: async ({ signal }) =>
      (await call<Data<ErrorGroupWhole>>('GET', `/v1/error_groups/${id}`, undefined, signal)).data,
  });
}

/** It reads many events: not asked for again with each new error. */
export function differencesQuery(id: string) {
  return queryOptions({
    queryKey: ['differences', id],
    queryFn: async ({ signal }) =>
      (await call<Data<Differences>>('GET', `/v1/error_groups/${id}/differences`, undefined, signal)).data,
    staleTime: 60_000,
  });
}

const ERRORS_PER_PAGE = 50;

export function groupErrorsQuery(groupId: string) {
  return infiniteQueryOptions({
    queryKey: ['group-errors', groupId],
    queryFn: ({ pageParam, signal }) => {
      const of = { group_id: groupId, limit: ERRORS_PER_PAGE, after: pageParam };
      return call<Page<FoundError>>('GET', `/v1/errors${query(of)}`, undefined, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.page_info.next_cursor ?? null,
  });
}

export interface FoundError {
  readonly id: string;
  readonly indexed_at_ms: number;
  readonly error: { readonly code: string; readonly msg: string; readonly namespace: string };
  readonly deployment_id: string | null;
  readonly told: string;
  readonly replay: { readonly state: string; readonly edited: boolean } | null;
}

const NOUNS: Readonly<Record<string, string>> = { wh: 'webhooks', dc: 'sources', hb: 'heartbeats' };

/** The listings of errors stand under the noun of their emitter. */
export function emitterPath(emitterId: string): string {
  const prefix = emitterId.slice(0, emitterId.indexOf('_'));
  return `/v1/${NOUNS[prefix] ?? 'workflows'}/${emitterId}`;
}

export function errorQuery(emitterId: string, id: string) {
  return queryOptions({
    queryKey: ['error', id],
    queryFn: async ({ signal }) => {
      const path = `${emitterPath(emitterId)}/$errors/event_summaries/${id}?expand=event`;
      return (await call<Data<ErrorRecord>>('GET', path, undefined, signal)).data;
    },
  });
}

/** The original event as it came: the answer of other requests has passed through numbers and objects. */
export function fixtureQuery(id: string) {
  return queryOptions({
    queryKey: ['fixture', id],
    queryFn: ({ signal }) => call<Fixture>('GET', `/v1/errors/${id}/fixture`, undefined, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export interface GroupChange {
  readonly state?: GroupState;
  readonly resolved_in_next_deployment?: boolean;
  readonly muted_until?: string;
  readonly muted_errors?: number;
  readonly muted_until_next_deployment?: boolean;
  readonly note?: string | null;
  readonly assignee?: string | null;
}

export async function changeGroup(id: string, change: GroupChange): Promise<ErrorGroup> {
  return (await call<Data<ErrorGroup>>('PUT', `/v1/error_groups/${id}`, change)).data;
}

/** `edited`: the text of the event to use instead of the original one; it is sent as it was typed. */
export async function replayError(emitterId: string, id: string, edited: string | null): Promise<{ run_id: string }> {
  const path = `${emitterPath(emitterId)}/$errors/${id}/replay`;
  const answer = await send('POST', path, edited === null ? {} : { raw: `{"event":${edited}}` });
  return (JSON.parse(answer) as Data<{ run_id: string }>).data;
}
