import { queryOptions } from '@tanstack/react-query';
import type {
  Differences,
  ErrorFixture,
  ErrorGroup,
  ErrorGroupWhole,
  ErrorRecordWhole,
  FoundError,
  ListedErrorGroup,
} from '../../../src/client/client.ts';
import { call, query, send } from './http.ts';
import { type Data, type Listed, listQuery } from './list.ts';
import type { GroupState } from './types.ts';

export interface GroupFilter {
  readonly state?: GroupState;
  readonly q?: string;
  readonly emitter?: string;
  readonly code?: string;
  readonly sort?: 'last_seen' | 'count';
}

export function groupsQuery({ state, q, emitter, code, sort }: GroupFilter) {
  const filter = { state, text: q, emitter_id: emitter, code, sort, expand: 'hours' };
  return listQuery<ListedErrorGroup>({ key: ['groups'], path: '/v1/error_groups', filter, keepsPrevious: true });
}

/** The groups that match a text, whatever their state. */
export function searchGroupsQuery(text: string, limit: number) {
  return queryOptions({
    queryKey: ['groups', 'search', text],
    queryFn: async ({ signal }) =>
      (await call<Listed<ListedErrorGroup>>('GET', `/v1/error_groups${query({ text, limit })}`, undefined, signal))
        .data,
    placeholderData: (before) => before,
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

export function groupErrorsQuery(groupId: string) {
  return listQuery<FoundError>({ key: ['group-errors', groupId], path: '/v1/errors', filter: { group_id: groupId } });
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
      return (await call<Data<ErrorRecordWhole>>('GET', path, undefined, signal)).data;
    },
  });
}

/** The original event as it came: the answer of other requests has passed through numbers and objects. */
export function fixtureQuery(id: string) {
  return queryOptions({
    queryKey: ['fixture', id],
    queryFn: ({ signal }) => call<ErrorFixture>('GET', `/v1/errors/${id}/fixture`, undefined, signal),
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
