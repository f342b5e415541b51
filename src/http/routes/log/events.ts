// What workflows, sources and heartbeats emitted, in the shape of the error listing.

import { WAITING } from '../../../domain/emission.ts';
import { PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { EmissionRecord } from '../../../store/contract/records.ts';
import { maySeeSecrets } from '../../access/auth.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { EMISSION_LIST_QUERY, listAnswer, listOf, pageOf } from '../../list.ts';
import { idIn, operation } from '../../openapi/operation.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { EVENT_RECORD, emissionToWire, laterToWire } from '../../wire/log/emissions.ts';
import { EXPAND, entryCursor, exists } from './emitters.ts';

const NOUNS = [
  { noun: 'workflow', name: 'Workflow', path: 'workflows', prefix: PREFIX.workflow },
  { noun: 'source', name: 'Source', path: 'sources', prefix: PREFIX.source },
  { noun: 'heartbeat', name: 'Heartbeat', path: 'heartbeats', prefix: PREFIX.heartbeat },
] as const;

const IN_WAITING =
  ' `event_name=$in` lists what was emitted for a later time (`delivery_ts`) and waits: all of it, with its channel (`metadata.event_name`) and time.';

export function addEventRoutes(app: App, { store }: HttpDeps): void {
  for (const { noun, name, path, prefix } of NOUNS) {
    const schema = operation({
      id: `list${name}Events`,
      tag: path,
      access: 'read',
      summary: `List what a ${noun} emitted`,
      description: `The newest ${LIMITS.listedPerEmitterAndName} of one channel, always kept. With \`expand=event\` each with its event, byte for byte.${noun === 'source' ? IN_WAITING : ''}`,
      params: idIn(prefix, `The ${noun}.`),
      query: {
        event_name: Type.Optional(
          text({ description: 'The channel; the default one when not given.', maxLength: LIMITS.eventNameChars }),
        ),
        expand: EXPAND,
        ...EMISSION_LIST_QUERY,
      },
      answer: listOf(EVENT_RECORD),
    });
    app.get(`/v1/${path}/:id/event_summaries`, { schema }, async ({ params, query, caller }) => {
      const page = pageOf(query, entryCursor);
      const withEvent = query.expand === 'event';
      await exists(store, caller.ownerId, { id: params.id, noun, prefix });
      if (noun === 'source' && query.event_name === WAITING) {
        const waiting = await store.listLater(caller.ownerId, params.id, page, withEvent);
        return listAnswer(waiting, (record) => laterToWire(record, withEvent), query);
      }
      const channel = { ownerId: caller.ownerId, emitterId: params.id, name: query.event_name ?? '' };
      const listed = await store.listEmissions(channel, page, withEvent);
      return listAnswer(
        listed,
        (record: EmissionRecord) => emissionToWire(record, withEvent, maySeeSecrets(caller)),
        query,
      );
    });
  }
}
