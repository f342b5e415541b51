// Deletes what a source emitted, and what it was to emit later.

import { ERRORS, WAITING } from '../../../domain/emission.ts';
import { entryOf, PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import { ALL_EVENTS } from '../../../store/contract/resources.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found, notFound } from '../../found.ts';
import { dataOf, idIn, operation } from '../../openapi/operation.ts';
import { RECORD_ID, text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { exists } from './emitters.ts';

const PARAMS = idIn(PREFIX.source, 'The source.');
const cursor = (description: string) =>
  Type.Optional(text({ description, example: '1782000000123-0', maxLength: LIMITS.nameChars }));

const SELECTION = {
  event_name: Type.Optional(
    text({
      description:
        'Only events with this name (empty: those without a name). `$in`: those that wait for their time, which are then never emitted.',
      maxLength: LIMITS.eventNameChars,
      example: '$in',
    }),
  ),
  start_id: cursor('From this record on, and with it.'),
  end_id: cursor('Up to this record, and with it.'),
};

export function addSourceEventRoutes(app: App, { store }: HttpDeps): void {
  const all = operation({
    id: 'deleteSourceEvents',
    tag: 'sources',
    access: 'write',
    summary: 'Delete events of a source',
    description:
      'All events, those with one name, or those from one id to another. The errors of the source stay; so do events that wait for their time, unless `event_name` is `$in`.',
    params: PARAMS,
    body: SELECTION,
    example: { start_id: '1782000000123-0', end_id: '1782000000456-0' },
    answer: dataOf(
      Type.Object({ deleted: Type.Integer({ description: 'How many events were deleted.', examples: [42] }) }),
    ),
    status: 202,
  });
  app.delete('/v1/sources/:id/events', { schema: all }, async ({ params, body, caller }, reply) => {
    const { ownerId } = caller;
    const sourceId = params.id;
    const from = entryIn('start_id', body.start_id) ?? ALL_EVENTS.from;
    const to = entryIn('end_id', body.end_id) ?? ALL_EVENTS.to;
    if (body.event_name === ERRORS) throw errorsStay();
    await exists(store, ownerId, { id: sourceId, noun: 'source', prefix: PREFIX.source });
    const name = body.event_name ?? null;
    const deleted =
      name === WAITING
        ? await store.deleteLater({ ownerId, sourceId, from, to })
        : await store.deleteSourceEvents(ownerId, sourceId, { from, to, name });
    return reply.code(202).send({ data: { deleted } });
  });

  const one = operation({
    id: 'deleteSourceEvent',
    tag: 'sources',
    access: 'write',
    summary: 'Delete one event of a source',
    description: 'One that was emitted is listed no more; one that waits in `$in` is never emitted. Errors stay.',
    params: { ...PARAMS, record_id: RECORD_ID },
    answer: dataOf(Type.Object({ id: RECORD_ID })),
  });
  app.delete('/v1/sources/:id/event_summaries/:record_id', { schema: one }, async ({ params, caller }) => {
    const { ownerId } = caller;
    const sourceId = params.id;
    await exists(store, ownerId, { id: sourceId, noun: 'source', prefix: PREFIX.source });
    const entry = found(entryOf(params.record_id), 'event', params.record_id);
    const range = { from: entry, to: entry };
    const deleted =
      (await store.deleteLater({ ownerId, sourceId, ...range })) +
      (await store.deleteSourceEvents(ownerId, sourceId, { ...range, name: null }));
    if (deleted === 0) throw notFound('event', params.record_id);
    return { data: { id: params.record_id } };
  });
}

function entryIn(parameter: string, id: string | undefined): number | undefined {
  if (id === undefined) return undefined;
  const entry = entryOf(id);
  if (entry !== undefined) return entry;
  const message = `must be the id of a record, but was ${JSON.stringify(id.slice(0, 80))}`;
  throw new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}

function errorsStay(): Refusal {
  const message = 'cannot be $errors: errors stay until retention takes them';
  return new Refusal('impossible', `event_name ${message}`, { errors: [{ parameter: 'event_name', message }] });
}
