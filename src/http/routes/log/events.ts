// What workflows, sources and heartbeats emitted, in the shape of the error listing.

import { WAITING } from '../../../domain/emission.ts';
import { entryOfEvent, PREFIX } from '../../../domain/ids.ts';
import type { ApiKey } from '../../../domain/keys.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { Store } from '../../../store/contract/store.ts';
import { maySeeSecrets } from '../../access/auth.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found, notFound } from '../../found.ts';
import { EMISSION_LIST_QUERY, listAnswer, listOf, pageOf } from '../../list.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { EVENT_RECORD, emissionToWire, type ListedEmission, laterToWire } from '../../wire/log/emissions.ts';
import { RECEIPT, receiptToWire } from '../../wire/log/runs.ts';
import { EXPAND, entryCursor, exists } from './emitters.ts';

const NOUNS = [
  { noun: 'workflow', name: 'Workflow', path: 'workflows', prefix: PREFIX.workflow },
  { noun: 'source', name: 'Source', path: 'sources', prefix: PREFIX.source },
  { noun: 'heartbeat', name: 'Heartbeat', path: 'heartbeats', prefix: PREFIX.heartbeat },
] as const;

const IN_WAITING =
  ' `event_name=$in` lists what was emitted for a later time (`delivery_ts`) and waits: all of it, with the name (`metadata.event_name`) and time that it will have.';

const ITEM_ID = {
  item_id: Type.Optional(
    text({
      description: `Only those to which the source gave this id (Stripe’s \`evt_…\`, for instance), among the newest ${LIMITS.searchedRecords.toLocaleString('en')}.`,
      example: 'evt_109',
    }),
  ),
};

type Noun = (typeof NOUNS)[number];

export function addEventRoutes(app: App, deps: HttpDeps): void {
  for (const noun of NOUNS) {
    addList(app, deps, noun);
    addOne(app, deps, noun);
  }
  addAny(app, deps);
}

function addList(app: App, { store }: HttpDeps, { noun, name, path, prefix }: Noun): void {
  const schema = operation({
    id: `list${name}Events`,
    tag: path,
    access: 'read',
    summary: `List events of a ${noun}`,
    description: `The newest ${LIMITS.listedPerEmitterAndName} with one name, or without a name. They are always kept. \`expand=event\` adds the event to each, byte for byte.${noun === 'source' ? IN_WAITING : ''}`,
    params: idIn(prefix, `The ${noun}.`),
    query: {
      event_name: Type.Optional(
        text({
          description: 'Name of the events; not given: events without a name.',
          maxLength: LIMITS.eventNameChars,
        }),
      ),
      ...(noun === 'source' ? ITEM_ID : {}),
      expand: EXPAND,
      ...EMISSION_LIST_QUERY,
    },
    answer: listOf(EVENT_RECORD),
  });
  app.get(`/v1/${path}/:id/event_summaries`, { schema }, async ({ params, query, caller }) => {
    const page = pageOf(query, entryCursor);
    const withEvent = query.expand === 'event';
    await exists(store, caller.ownerId, { id: params.id, noun, prefix });
    const { item_id: itemId } = query as { item_id?: string };
    if (noun === 'source' && query.event_name === WAITING) {
      if (itemId !== undefined)
        throw new Refusal('malformed', 'item_id finds what was emitted, and not what waits in $in');
      const waiting = await store.listLater(caller.ownerId, params.id, page, withEvent);
      return listAnswer(waiting, (record) => laterToWire(record, withEvent));
    }
    const channel = { ownerId: caller.ownerId, emitterId: params.id, name: query.event_name ?? '', itemId };
    const listed = await store.listEmissions(channel, page, withEvent);
    return listAnswer(listed, (record: ListedEmission) => emissionToWire(record, withEvent, maySeeSecrets(caller)));
  });
}

const RECORD_OR_EMIT_ID = text({ description: 'Its emit id, or its record id.', example: 'k3x9qg4w9zl7un4' });

const EVENT_WHOLE = Type.Object(
  { ...EVENT_RECORD.properties, receipts: Type.Array(RECEIPT, { description: 'Who got it.' }) },
  { title: 'EventWhole' },
);

function addOne(app: App, { store }: HttpDeps, { noun, name, path, prefix }: Noun): void {
  const schema = operation({
    id: `get${name}Event`,
    tag: path,
    access: 'read',
    summary: `Read one event of a ${noun}`,
    description: `Returns its receipts: every run and delivery that it caused, with its state, and what was withheld and why. The id may be that of the record, or the emit id, which is also the \`webhook-id\` of deliveries. 404 when retention has deleted the event.`,
    params: { ...idIn(prefix, `The ${noun}.`), record_id: RECORD_ID },
    query: { expand: EXPAND },
    answer: dataOf(EVENT_WHOLE),
  });
  app.get(`/v1/${path}/:id/event_summaries/:record_id`, { schema }, async ({ params, query, caller }) => {
    const { ownerId } = caller;
    const { id, record_id: recordId } = params;
    await exists(store, ownerId, { id, noun, prefix });
    const entry = found(entryOfEvent(recordId), 'event', recordId);
    const emission = found(await store.getEmission(ownerId, entry), 'event', recordId);
    if (emission.emitterId !== id) throw notFound('event', recordId);
    return { data: await wholeOf(store, emission, { withEvent: query.expand === 'event', caller }) };
  });
}

function addAny(app: App, { store }: HttpDeps): void {
  const schema = operation({
    id: 'getEvent',
    tag: 'endpoints',
    access: 'read',
    summary: 'Read one event',
    description:
      'The id is that which the address of a trigger has returned. Returns the event of any emitter with its receipts: who got it, and from whom it was withheld and why. 404 when retention has deleted the event.',
    params: { id: RECORD_OR_EMIT_ID },
    query: { expand: EXPAND },
    answer: dataOf(EVENT_WHOLE),
  });
  app.get('/v1/events/:id', { schema }, async ({ params, query, caller }) => {
    const { ownerId } = caller;
    const entry = found(entryOfEvent(params.id), 'event', params.id);
    const emission = found(await store.getEmission(ownerId, entry), 'event', params.id);
    return { data: await wholeOf(store, emission, { withEvent: query.expand === 'event', caller }) };
  });
}

async function wholeOf(store: Store, emission: ListedEmission, shown: { withEvent: boolean; caller: ApiKey }) {
  const receipts = await store.receipts(shown.caller.ownerId, emission.entry);
  const record = emissionToWire(emission, shown.withEvent, maySeeSecrets(shown.caller));
  return { ...record, receipts: receipts.map(receiptToWire) };
}
