// All errors of an owner from now on, as server-sent events.

import { ERRORS } from '../../../domain/emission.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { found, notFound } from '../../found.ts';
import { operation } from '../../openapi/operation.ts';
import { Type } from '../../schema/type.ts';
import { STREAMED_ERROR } from '../../wire/log/emissions.ts';
import { ERROR_FILTER, errorFilterOf } from '../../wire/log/error-filter.ts';
import { STREAM_QUERY, sendStream, streamCursor } from './send-stream.ts';

/** A stream has a time of its own. */
const { since: _since, until: _until, ...FILTER } = ERROR_FILTER;

const EXAMPLE = `id: 1782000000123-0
event: $errors
data: {"id":"1782000000123-0","indexed_at_ms":1782000000123,"event":{"original_event":{"order":12345},"original_context":{},"error":{"code":"TypeError"}},"metadata":{"emitter_id":"p_0Vj3aBc9dEfGhIjK","emit_id":"k3x9qg4w9zl7un4","name":"$errors","group_id":"eg_0Vj3aBc9dEfGhIjK"}}

`;

export function addErrorStreamRoute(app: App, deps: HttpDeps): void {
  const schema = operation({
    id: 'streamErrors',
    tag: 'errors',
    access: 'read',
    summary: 'Stream all errors',
    description:
      'Server-sent events, as those of one emitter (`GET /v1/emitters/{id}/events`): every error of all workflows, sources and webhooks from now on, also of those that are created later; each as the listings show it with `expand=event`. `Last-Event-ID` goes on behind that error. Parameters that are given must all match.',
    query: { ...FILTER, ...STREAM_QUERY },
    mediaType: 'text/event-stream',
    item: STREAMED_ERROR,
    answer: Type.String({ examples: [EXAMPLE] }),
  });
  app.get('/v1/errors/stream', { schema, exposeHeadRoute: false }, async (request, reply) => {
    const { ownerId } = request.caller;
    const { emitterId, ...filter } = errorFilterOf(request.query);
    const after = streamCursor(request, request.query);
    const isThere = async (): Promise<boolean> => emitterId === undefined || deps.store.exists(ownerId, emitterId);
    // A stream of nothing would be silent for ever.
    if (!(await isThere())) throw notFound('emitter', emitterId ?? '');
    const { groupId } = filter;
    if (groupId !== undefined) found(await deps.store.getErrorGroup(ownerId, groupId), 'group of errors', groupId);
    const channel = { ownerId, emitterId: emitterId ?? ownerId, name: ERRORS, filter };
    await sendStream(deps, { request, reply, channel, after, isThere });
    return reply;
  });
}
