import { queryOptions } from '@tanstack/react-query';
import type { ErrorGroup, ErrorRecordWhole } from '../../../src/client/client.ts';
import { beginOf, type Period } from '../parts/period.ts';
import { type Asked, changes, dataOf, errand } from './errand.ts';
import { listQuery } from './list.ts';
import { begun } from './runs.ts';
import type { GroupState } from './types.ts';

/** New errors are told at once; what other people do to groups is not. */
const AGAIN_MS = 5000;
const ASSIGNEES_AGAIN_MS = 60_000;

export interface GroupFilter {
  readonly state?: GroupState;
  readonly q?: string;
  readonly emitter?: string;
  readonly code?: string;
  /** Seen last within the period. */
  readonly within?: Period;
  /** A mail address; `none`: groups without an assignee. */
  readonly assignee?: string;
  readonly sort?: 'last_seen' | 'count';
}

export function groupsQuery({ state, q, emitter, code, within, assignee, sort }: GroupFilter) {
  return listQuery({
    key: ['groups'],
    // From now back, whenever it is asked for again.
    read: ({ within: period, ...asked }, options) =>
      errand.listErrorGroups(period === undefined ? asked : { ...asked, since: beginOf(period) }, options),
    filter: { state, text: q, emitter_id: emitter, code, within, assignee, sort, expand: 'hours' as const },
    keepsPrevious: true,
    againMs: AGAIN_MS,
  });
}

/** Whom groups are assigned to. */
export function assigneesQuery() {
  return queryOptions({
    queryKey: ['assignees'],
    queryFn: ({ signal }) => dataOf(errand.listGroupAssignees({}, { signal })),
    refetchInterval: ASSIGNEES_AGAIN_MS,
  });
}

/** The groups that match a text, whatever their state. */
export function searchGroupsQuery(text: string, limit: number) {
  return queryOptions({
    queryKey: ['groups', 'search', text],
    queryFn: ({ signal }) => dataOf(errand.listErrorGroups({ ...(text === '' ? {} : { text }), limit }, { signal })),
    placeholderData: (before) => before,
  });
}

export function groupQuery(id: string) {
  return queryOptions({
    queryKey: ['group', id],
    queryFn: ({ signal }) => dataOf(errand.getErrorGroup({ id }, { signal })),
    refetchInterval: AGAIN_MS,
  });
}

/** It reads many events: not asked for again with each new error. */
export function differencesQuery(id: string) {
  return queryOptions({
    queryKey: ['differences', id],
    queryFn: ({ signal }) => dataOf(errand.getErrorGroupDifferences({ id }, { signal })),
    staleTime: 60_000,
  });
}

export function groupErrorsQuery(groupId: string) {
  return listQuery({
    key: ['group-errors', groupId],
    read: (asked, options) => errand.searchErrors(asked, options),
    filter: { group_id: groupId },
  });
}

/** Errors whose own message has a text, whatever the state of their groups. */
export function foundErrorsQuery({
  q,
  emitter,
  within,
}: Pick<GroupFilter, 'emitter' | 'within'> & { readonly q: string }) {
  return listQuery({
    key: ['found-errors'],
    read: ({ within: period, ...asked }, options) =>
      errand.searchErrors(period === undefined ? asked : { ...asked, since: beginOf(period) }, options),
    filter: { text: q, emitter_id: emitter, within },
  });
}

/** Reads an error, which stands under the noun of its emitter. */
function readError(emitterId: string, recordId: string, options: Asked): Promise<ErrorRecordWhole> {
  const asked = { id: emitterId, record_id: recordId, expand: 'event' } as const;
  if (emitterId.startsWith('wh_')) return dataOf(errand.getWebhookError(asked, options));
  if (emitterId.startsWith('dc_')) return dataOf(errand.getSourceError(asked, options));
  if (emitterId.startsWith('hb_')) return dataOf(errand.getHeartbeatError(asked, options));
  return dataOf(errand.getWorkflowError(asked, options));
}

export function errorQuery(emitterId: string, id: string) {
  return queryOptions({
    queryKey: ['error', id],
    queryFn: ({ signal }) => readError(emitterId, id, { signal }),
  });
}

/** The original event as it came: the answer of other requests has passed through numbers and objects. */
export function fixtureQuery(id: string) {
  return queryOptions({
    queryKey: ['fixture', id],
    queryFn: ({ signal }) => errand.getErrorFixture({ record_id: id }, { signal }),
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
  return await dataOf(changes.updateErrorGroup({ id, ...change }));
}

/** `edited`: the text of the event to use instead of the original one; it is sent as it was typed. */
export async function replayError(emitterId: string, id: string, edited: string | null): Promise<{ run_id: string }> {
  const asked = { id: emitterId, record_id: id };
  const options = edited === null ? {} : { bodyText: `{"event":${edited}}` };
  const isOfSource = emitterId.startsWith('dc_');
  return await begun(isOfSource ? changes.replaySourceError(asked, options) : changes.replayError(asked, options));
}
