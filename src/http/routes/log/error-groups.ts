// Groups of errors: their list, one of them whole, what is said about it, and what rules would make of past errors.

import { ERRORS } from '../../../domain/emission.ts';
import { COMPARED } from '../../../domain/errors/compared.ts';
import { type Fingerprint, isOfOthers } from '../../../domain/errors/fingerprint.ts';
import { type ErrorGroup, GROUP_SORTS, GROUP_STATES, UNASSIGNED } from '../../../domain/errors/group.ts';
import { capturedAgain, detailOf } from '../../../domain/failure.ts';
import { PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { GroupPageQuery, GroupQuery, GroupSearchPage } from '../../../store/contract/error-groups.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { contentCheck, contentVersion, tag } from '../../etag.ts';
import { found } from '../../found.ts';
import { LIST_QUERY, pageOf } from '../../list.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { oneOf } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { GROUPING, groupingInput } from '../../wire/errors/grouping.ts';
import { DIFFERENCES, differencesToWire } from '../../wire/log/differences.ts';
import { groupedToWire } from '../../wire/log/emissions.ts';
import { rangeOf, SEARCHED_TEXT, TIME_RANGE, word } from '../../wire/log/error-filter.ts';
import {
  ERROR_GROUP,
  ERROR_GROUP_WHOLE,
  GROUP_ASSIGNEE,
  GROUP_PREVIEW,
  GROUP_UPDATE,
  groupChange,
  groupToWire,
  groupWholeToWire,
  hoursToWire,
  LISTED_GROUP,
  previewOf,
} from '../../wire/log/error-groups.ts';
import {
  GROUP_CURSOR_WANTED,
  GROUP_CURSORS,
  GROUP_PAGE_INFO,
  groupCursor,
  groupPageInfo,
  listedPage,
} from '../../wire/log/group-pages.ts';
import { receiptToWire } from '../../wire/log/runs.ts';
import { exists } from './emitters.ts';

const PARAMS = idIn(PREFIX.errorGroup, 'The group.');

const BOUNDS = `With \`text\`, one request looks at no more than ${LIMITS.searchedRecords.toLocaleString('en')} groups: a page may be short, or empty, although more groups match. Then \`next_cursor\` says where to go on, \`looked_at\` how many groups it looked at, and \`searched_until_ms\` how far it came.`;

export function addErrorGroupRoutes(app: App, deps: HttpDeps): void {
  addList(app, deps);
  addAssignees(app, deps);
  addOne(app, deps);
  addDifferences(app, deps);
  addUpdate(app, deps);
  addPreview(app, deps);
}

function addList(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listErrorGroups',
    tag: 'errors',
    access: 'read',
    summary: 'List groups of errors',
    description: `Errors of one workflow, source or webhook with the same step, code, message template and frame are one group. Cursors are places in the list (\`start_cursor\`, \`end_cursor\`), not ids: a group that is seen again moves to the front. ${BOUNDS}`,
    query: {
      emitter_id: word(
        'Only groups of this workflow, source, webhook or heartbeat.',
        'p_0Vj3aBc9dEfGhIjK',
        LIMITS.nameChars,
      ),
      state: Type.Optional(oneOf(GROUP_STATES, 'Only groups in this state.')),
      code: word('Only groups with this code.', 'TypeError', LIMITS.codeChars),
      since: TIME_RANGE.since,
      assignee: word(
        `Only groups that are assigned to this mail address, in upper or lower case; \`${UNASSIGNED}\`: to no person.`,
        'ada@example.com',
        LIMITS.nameChars,
      ),
      text: SEARCHED_TEXT('the code, the message template, the frame, the step or the rule’s name'),
      sort: Type.Optional(
        oneOf(GROUP_SORTS, 'Seen last first, or most errors first, of the 10,000 that were seen last.'),
      ),
      expand: Type.Optional(oneOf(['hours'], 'Each group with its errors by hour, as the whole group has them.')),
      ...LIST_QUERY,
      ...GROUP_CURSORS,
    },
    answer: Type.Object({
      page_info: GROUP_PAGE_INFO,
      data: Type.Array(LISTED_GROUP, { description: 'The groups of this page.' }),
    }),
  });
  app.get('/v1/error_groups', { schema }, async ({ query, caller }) => {
    const { emitter_id: emitterId, state, code, since, assignee, text: part, sort = 'last_seen' } = query;
    const of = {
      ownerId: caller.ownerId,
      sort,
      ...(emitterId === undefined ? {} : { emitterId }),
      ...(state === undefined ? {} : { state }),
      ...(code === undefined ? {} : { code }),
      ...rangeOf(since === undefined ? {} : { since }),
      ...(assignee === undefined ? {} : { assignee: assignee === UNASSIGNED ? null : assignee }),
    };
    const page = pageOf(query, groupCursor, GROUP_CURSOR_WANTED);
    const { found, totalCount } = await pageOfGroups(store, { of, page, part });
    const ids = found.items.map(({ id }) => id);
    const hours = query.expand === 'hours' ? await store.groupHours(caller.ownerId, ids) : null;
    const show = (group: ErrorGroup) => ({
      ...groupToWire(group),
      ...(hours === null ? {} : { hours: hoursToWire(hours.get(group.id) ?? []) }),
    });
    return { page_info: groupPageInfo(found, { sort, totalCount }), data: found.items.map(show) };
  });
}

async function pageOfGroups(
  store: HttpDeps['store'],
  { of, page, part }: { of: GroupQuery; page: GroupPageQuery; part: string | undefined },
): Promise<{ found: GroupSearchPage; totalCount: number | null }> {
  if (part !== undefined) {
    return { found: await store.searchErrorGroups({ ...of, text: part }, page), totalCount: null };
  }
  const listed = await store.listErrorGroups(of, page);
  return { found: listedPage(listed, page, of.sort), totalCount: listed.totalCount };
}

function addAssignees(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'listGroupAssignees',
    tag: 'errors',
    access: 'read',
    summary: 'List assignees of groups',
    description: `Whom the ${LIMITS.searchedRecords.toLocaleString('en')} groups that were seen last are assigned to, those with most open groups first: ${LIMITS.pageRecords} at most. \`GET /v1/error_groups?assignee=…\` has the groups of one.`,
    answer: Type.Object({ data: Type.Array(GROUP_ASSIGNEE) }),
  });
  app.get('/v1/error_groups/assignees', { schema }, async ({ caller }) => {
    return { data: [...(await store.groupAssignees(caller.ownerId))] };
  });
}

function addOne(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'getErrorGroup',
    tag: 'errors',
    access: 'read',
    summary: 'Read a group of errors',
    description:
      'With its errors by hour and by deployment, and its newest errors, each with its receipts: who was told. `GET /v1/errors?group_id=…` has all of its errors that are kept.',
    params: PARAMS,
    answer: dataOf(ERROR_GROUP_WHOLE),
  });
  app.get('/v1/error_groups/:id', { schema }, async ({ params, caller }, reply) => {
    const { ownerId } = caller;
    const whole = found(await store.getErrorGroup(ownerId, params.id), 'group of errors', params.id);
    tag(reply, contentVersion(changeableOf(whole.group)));
    const samples = await Promise.all(whole.entries.map((entry) => sampleOf(store, ownerId, entry)));
    return { data: groupWholeToWire(whole, samples.flat()) };
  });
}

/** Returns an error as a sample, in a list; an empty list when retention has deleted it meanwhile. */
async function sampleOf(store: HttpDeps['store'], ownerId: string, entry: number) {
  const [emission, receipts] = await Promise.all([store.getEmission(ownerId, entry), store.receipts(ownerId, entry)]);
  if (!emission) return [];
  const { context, error } = detailOf(emission.body);
  const { id, indexed_at_ms, metadata } = groupedToWire(emission, false);
  const told = receipts.map(receiptToWire);
  const { namespace = '', stack = '' } = error;
  const shown = { ...error, namespace, stack };
  return [{ id, indexed_at_ms, metadata, deployment_id: context.deployment_id, error: shown, receipts: told }];
}

function addDifferences(app: App, { actions }: HttpDeps): void {
  const schema = operation({
    id: 'getErrorGroupDifferences',
    tag: 'errors',
    access: 'read',
    summary: 'Compare failures with successes',
    description: `Compares the events of the group’s errors with those of successful runs of the same workflow or source until its last error, and later ones of the deployment that failed last: which fields separate them. And what changed from the last good run before the group’s first error to that error: the code, and the types of the event’s fields. It looks at the newest ${COMPARED.failures} errors and ${COMPARED.successes.toLocaleString('en')} successes at most, and says at how many.`,
    params: PARAMS,
    answer: dataOf(DIFFERENCES),
  });
  app.get('/v1/error_groups/:id/differences', { schema }, async ({ params, caller }) => {
    return { data: differencesToWire(await actions.differences(caller.ownerId, params.id)) };
  });
}

function addUpdate(app: App, { actions, clock }: HttpDeps): void {
  const schema = operation({
    id: 'updateErrorGroup',
    tag: 'errors',
    access: 'write',
    summary: 'Change a group of errors',
    description:
      'State, note and assignee. A mute always has an end, and the first of several counts. `resolved`: the next error opens the group again, with `resolved_in_next_deployment` the next error of a later deployment. Channels that were told of the group are told that it recovered.',
    params: PARAMS,
    put: { takes: 'members' },
    body: GROUP_UPDATE,
    takesIfMatch: true,
    example: { state: 'resolved', resolved_in_next_deployment: true, assignee: 'ada@example.com' },
    answer: dataOf(ERROR_GROUP),
  });
  app.put('/v1/error_groups/:id', { schema }, async (request, reply) => {
    const { params, body, caller } = request;
    const isExpected = contentCheck(request, params.id);
    const group = await actions.updateErrorGroup(
      caller.ownerId,
      params.id,
      groupChange(body, clock.nowMs()),
      (before) => isExpected(changeableOf(before)),
    );
    tag(reply, contentVersion(changeableOf(group)));
    return { data: groupToWire(group) };
  });
}

/** Returns what callers change of a group: errors that come meanwhile leave its version as it is, unless they open it again. */
function changeableOf({ state, untilMs, untilCount, afterDeployment, note, assignee }: ErrorGroup): unknown {
  return [state, untilMs, untilCount, afterDeployment, note, assignee];
}

/**
 * Returns the fingerprints that groups were made of when their errors came: not all of that is in an error, such as which frames
 * are the program's own. Of a group that a rule made, or of one for other errors, it is that of none of the others.
 */
async function fingerprintsOf(
  store: HttpDeps['store'],
  ownerId: string,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string | null, Fingerprint>> {
  const wanted = new Set(ids.flatMap((id) => id ?? []));
  const wholes = await Promise.all([...wanted].map((id) => store.getErrorGroup(ownerId, id)));
  return new Map(
    wholes.flatMap((whole) => {
      if (!whole || whole.group.rule !== null || isOfOthers(whole.group.fingerprint)) return [];
      return [[whole.group.id, whole.group.fingerprint]];
    }),
  );
}

function addPreview(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'previewErrorGroups',
    tag: 'errors',
    access: 'read',
    summary: 'Preview the grouping of a workflow’s errors',
    description: `Shows the groups that rules (\`settings.grouping\`) would make of the workflow’s last ${LIMITS.listedPerEmitterAndName} errors; nothing is changed. Rules apply to errors that come after they were set.`,
    params: idIn(PREFIX.workflow, 'The workflow.'),
    body: { grouping: GROUPING },
    example: { grouping: [{ group: 'cards', message: 'card * declined' }] },
    answer: Type.Object({ data: Type.Array(GROUP_PREVIEW) }),
  });
  app.post('/v1/workflows/:id/error_groups/preview', { schema }, async ({ params, body, caller }) => {
    const { ownerId } = caller;
    await exists(store, ownerId, { id: params.id, noun: 'workflow', prefix: PREFIX.workflow });
    const channel = { ownerId, emitterId: params.id, name: ERRORS };
    const { items } = await store.listEmissions(channel, { limit: LIMITS.listedPerEmitterAndName }, true);
    const fingerprints = await fingerprintsOf(
      store,
      ownerId,
      items.map(({ groupId }) => groupId),
    );
    const errors = items.map(({ entry, groupId, body: bytes }) => {
      const { context, error } = detailOf(bytes ?? new Uint8Array());
      const made = capturedAgain(error, context.deployment_id);
      const fault = { ...made, fingerprint: fingerprints.get(groupId) ?? made.fingerprint };
      return { entry, groupId, fault };
    });
    return { data: previewOf(errors, groupingInput(body.grouping, 'grouping')) };
  });
}
