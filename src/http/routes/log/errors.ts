// The errors of workflows, sources, webhooks and heartbeats: the list, one with its receipts, and its replay.

import { ERRORS } from '../../../domain/emission.ts';
import { whyNeverReplayed } from '../../../domain/errors/replay.ts';
import { entryOf, PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found, notFound } from '../../found.ts';
import { EMISSION_LIST_QUERY, listAnswer, listOf, pageOf } from '../../list.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { RECORD_ID } from '../../openapi/schema.ts';
import { eventOf } from '../../params.ts';
import { Type } from '../../schema/type.ts';
import { ERROR_RECORD, emissionToWire, GROUPED_METADATA, groupedToWire } from '../../wire/log/emissions.ts';
import { FAILED, failedToWire, REPLAY, replayToWire, TOLD_STATE } from '../../wire/log/found-errors.ts';
import { RECEIPT, receiptToWire, STARTED, startedToWire } from '../../wire/log/runs.ts';
import { EXPAND, entryCursor, hasErrorsOrExists } from './emitters.ts';

const NOUNS = [
  { noun: 'workflow', name: 'Workflow', path: 'workflows', prefix: PREFIX.workflow, replay: 'replayError' },
  { noun: 'source', name: 'Source', path: 'sources', prefix: PREFIX.source, replay: 'replaySourceError' },
  { noun: 'webhook', name: 'Webhook', path: 'webhooks', prefix: PREFIX.webhook, replay: null },
  { noun: 'heartbeat', name: 'Heartbeat', path: 'heartbeats', prefix: PREFIX.heartbeat, replay: null },
] as const;

type Noun = (typeof NOUNS)[number];

export function addErrorRoutes(app: App, deps: HttpDeps): void {
  for (const noun of NOUNS) {
    addList(app, deps, noun);
    addOne(app, deps, noun);
    if (noun.replay !== null) addReplay(app, deps, noun);
  }
}

function addList(app: App, { store }: HttpDeps, { noun, name, path, prefix }: Noun): void {
  const schema = operation({
    id: `list${name}Errors`,
    tag: 'errors',
    access: 'read',
    summary: `List recent errors of a ${noun}`,
    description: `The newest ${LIMITS.listedPerEmitterAndName}, however old they are. With \`expand=event\`, each has the original event, its context and the error.`,
    params: idIn(prefix, `The ${noun}.`),
    query: { expand: EXPAND, ...EMISSION_LIST_QUERY },
    answer: listOf(ERROR_RECORD),
  });
  app.get(`/v1/${path}/:id/$errors/event_summaries`, { schema }, async ({ params, query, caller }) => {
    const page = pageOf(query, entryCursor);
    const withEvent = query.expand === 'event';
    await hasErrorsOrExists(store, caller.ownerId, { id: params.id, noun, prefix });
    const channel = { ownerId: caller.ownerId, emitterId: params.id, name: ERRORS };
    const listed = await store.listEmissions(channel, page, withEvent);
    return listAnswer(listed, (record) => emissionToWire(record, withEvent));
  });
}

const ERROR_RECORD_WHOLE = Type.Object(
  {
    ...ERROR_RECORD.properties,
    metadata: GROUPED_METADATA,
    ...FAILED,
    receipts: Type.Array(RECEIPT, { description: 'Who was told of it, and from whom it was withheld.' }),
    told: TOLD_STATE,
    replays: Type.Array(REPLAY, { description: 'Replays of it and retries of its run, newest first; at most 100.' }),
  },
  { title: 'ErrorRecordWhole' },
);

function addOne(app: App, { store }: HttpDeps, { noun, name, path, prefix }: Noun): void {
  const schema = operation({
    id: `get${name}Error`,
    tag: 'errors',
    access: 'read',
    summary: `Read one error of a ${noun}`,
    description:
      'Returns its receipts (every run, delivery and mail that it caused, and what was withheld and why), whether a listener was told, and the result of each replay; also when what failed was deleted, as long as the error is kept. A browser that opens the address without a key is sent to the page in the dashboard.',
    params: { ...idIn(prefix, `The ${noun}.`), record_id: RECORD_ID },
    query: { expand: EXPAND },
    answer: dataOf(ERROR_RECORD_WHOLE),
    page: ({ id = '', record_id: record = '' }) =>
      `/emitters/${encodeURIComponent(id)}/errors/${encodeURIComponent(record)}`,
  });
  app.get(`/v1/${path}/:id/$errors/event_summaries/:record_id`, { schema }, async ({ params, query, caller }) => {
    const entry = entryOf(params.record_id);
    const emission = entry === undefined ? undefined : await store.getEmission(caller.ownerId, entry);
    const isOfEmitter = emission?.emitterId === params.id && params.id.startsWith(prefix);
    // Searches list the errors of what was deleted, too.
    if (!isOfEmitter) await hasErrorsOrExists(store, caller.ownerId, { id: params.id, noun, prefix });
    if (!isOfEmitter || entry === undefined || emission.name !== ERRORS) throw notFound('error', params.record_id);
    const [receipts, outcome] = await Promise.all([
      store.receipts(caller.ownerId, entry),
      store.outcomeOfError(caller.ownerId, entry),
    ]);
    const record = groupedToWire(emission, query.expand === 'event');
    const { told, replays } = outcome;
    const became = { receipts: receipts.map(receiptToWire), told, replays: replays.map(replayToWire) };
    return { data: { ...record, ...failedToWire(outcome), ...became } };
  });
}

/** Returns the 404 that says why an error of a webhook or heartbeat is not replayed; undefined: there is no such error. */
async function whyNoReplay(
  store: HttpDeps['store'],
  ownerId: string,
  { id, record_id: recordId }: { readonly id: string; readonly record_id: string },
): Promise<Refusal | undefined> {
  if (!NOUNS.some(({ prefix, replay }) => replay === null && id.startsWith(prefix))) return undefined;
  const entry = entryOf(recordId);
  const error = entry === undefined ? undefined : await store.getEmission(ownerId, entry);
  const why = error?.emitterId === id ? whyNeverReplayed(error) : null;
  return why === null ? undefined : new Refusal('not_found', `error ${recordId} is not replayed: ${why}`);
}

function addReplay(app: App, { store, actions, maxBodyBytes }: HttpDeps, { noun, path, prefix, replay }: Noun): void {
  const schema = operation({
    id: replay ?? '',
    tag: 'errors',
    access: 'write',
    summary: `Replay an error of a ${noun}`,
    description:
      'Runs the original event again, byte for byte, with the active deployment. The run has a new id and time, the same `trace_id` and `original_ts`, and `replay: true`. With `event`, that event is run instead.',
    params: { ...idIn(prefix, `The ${noun}.`), record_id: RECORD_ID },
    body: {
      event: Type.Optional(Type.Unknown({ description: 'Another event to run, as edited; its bytes as sent.' })),
    },
    example: { event: { order: 12345 } },
    answer: dataOf(STARTED),
  });
  app.post(`/v1/${path}/:id/$errors/:record_id/replay`, { schema }, async (request) => {
    const { params, caller } = request;
    if (!params.id.startsWith(prefix)) {
      throw (await whyNoReplay(store, caller.ownerId, params)) ?? notFound(noun, params.id);
    }
    const entry = found(entryOf(params.record_id), 'error', params.record_id);
    const edited = eventOf(request, maxBodyBytes) ?? null;
    return { data: startedToWire(await actions.replay(caller.ownerId, params.id, entry, { edited })) };
  });
}
