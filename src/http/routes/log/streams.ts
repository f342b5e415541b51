// Streams: what an emitter emits from now on, as server-sent events.

import { ERRORS } from '../../../domain/emission.ts';
import { PREFIX } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { notFound } from '../../found.ts';
import { idIn, operation } from '../../openapi/operation.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';
import { EVENT_RECORD } from '../../wire/log/emissions.ts';
import { STREAM_QUERY, sendStream, streamCursor } from './send-stream.ts';

const EMITTERS = /^(p|dc|wh|hb)_/;
const MANY = ['*', 'p_*', 'dc_*'];

const QUERY = {
  event_name: Type.Optional(
    text({
      description:
        'Name of the events, as in a subscription: not given for events without a name, `*` for every name that does not begin with `$`, `$errors` for errors.',
      maxLength: LIMITS.eventNameChars,
    }),
  ),
  ...STREAM_QUERY,
};

const DESCRIPTION = `Server-sent events: each with the record’s id, the name of the event (none when it has no name), and as data \`{id, indexed_at_ms, event, metadata}\`, as the listings show it with \`expand=event\`. Begins with what is emitted from now on, or, with \`Last-Event-ID\`, behind that record: everything that is still kept, in order and without a gap. When something may be gone that came after it, the first event is called \`$gap\`. A comment comes at least every 15 seconds. The key goes into the \`Authorization\` header, never into the address, which ends up in logs.`;

export function addStreamRoutes(app: App, deps: HttpDeps): void {
  const both = [
    [
      '/v1/emitters/:id/events',
      'streamEvents',
      'Stream events of an emitter',
      idIn(
        PREFIX.source,
        'A source, workflow, webhook or heartbeat; or `p_*`, `dc_*`, `*` for all of that kind, also those that are made later.',
      ),
    ],
    ['/sse/dc/:id/emits', 'streamSourceEvents', 'Stream events of a source', idIn(PREFIX.source, 'The source.')],
  ] as const;
  for (const [url, id, summary, params] of both) {
    const isOfSource = id === 'streamSourceEvents';
    const schema = operation({
      id,
      tag: 'streams',
      access: 'read',
      summary,
      description: isOfSource ? 'The same as `GET /v1/emitters/{id}/events`, of a source.' : DESCRIPTION,
      params,
      query: QUERY,
      mediaType: 'text/event-stream',
      item: EVENT_RECORD,
      answer: Type.String({
        examples: [
          'id: 1782000000123-0\ndata: {"id":"1782000000123-0","indexed_at_ms":1782000000123,"event":{"id":7},"metadata":{}}\n\n',
        ],
      }),
    });
    app.get(url, { schema, exposeHeadRoute: false }, async (request, reply) => {
      if (isOfSource && !request.params.id.startsWith(PREFIX.source)) throw notFound('source', request.params.id);
      const { id: emitterId } = request.params;
      const { ownerId } = request.caller;
      const name = request.query.event_name ?? '';
      if (name === '$in') throw waitingOnly();
      const after = streamCursor(request, request.query);
      const isOfMany = MANY.includes(emitterId) || emitterId === ownerId;
      const isThere = async (): Promise<boolean> => isOfMany || deps.store.exists(ownerId, emitterId);
      if (!(isOfMany || EMITTERS.test(emitterId)) || !(await isThere())) throw notFound('emitter', emitterId);
      const channel = { ownerId, emitterId: emitterOf(emitterId, ownerId, name), name };
      await sendStream(deps, { request, reply, channel, after, isThere });
      return reply;
    });
  }
}

/** Returns the emitter of the channel: the owner's errors are a channel of their own, and its own id means the same as `*`. */
function emitterOf(emitterId: string, ownerId: string, name: string): string {
  if (emitterId !== '*' && emitterId !== ownerId) return emitterId;
  return name === ERRORS ? ownerId : '*';
}

function waitingOnly(): Refusal {
  const message = 'cannot be $in: what waits there is not emitted yet, and is heard on its own channel when it is';
  return new Refusal('impossible', `event_name ${message}`, { errors: [{ parameter: 'event_name', message }] });
}
