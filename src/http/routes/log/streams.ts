// Streams: what an emitter emits from now on, as server-sent events.

import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../../domain/fault.ts';
import { entryOf, PREFIX } from '../../../domain/ids.ts';
import { isGood } from '../../../domain/keys.ts';
import { KIB, LIMITS } from '../../../domain/limits.ts';
import type { StreamSink } from '../../../domain/stream.ts';
import { bearerOf, sha256Hex } from '../../access/auth.ts';
import type { App } from '../../app-type.ts';
import type { HttpDeps } from '../../deps.ts';
import { notFound } from '../../found.ts';
import { idIn, operation } from '../../openapi/operation.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

const EMITTERS = /^(p|dc|wh)_/;
/** Written in parts, so that it shows whether a reader reads. */
const WRITTEN_BYTES = 64 * KIB;

const QUERY = {
  event_name: Type.Optional(
    text({
      description:
        'The channel, as a subscription has it: the default one when not given, `*` for every name that does not begin with `$`, `$errors` for errors.',
      maxLength: LIMITS.eventNameChars,
    }),
  ),
  last_event_id: Type.Optional(
    text({ description: 'As the header `Last-Event-ID`, for clients that cannot set one; the header wins.' }),
  ),
};

const DESCRIPTION = `Server-sent events: each with the record’s id, the channel as its name (none on the default one), and as data \`{id, indexed_at_ms, event, metadata}\`, as the listings show it with \`expand=event\`. Begins with what is emitted from now on, or, with \`Last-Event-ID\`, behind that record: everything that is still kept, in order and without a gap. When something may be gone that came after it, the first event is called \`$gap\`. A comment comes at least every 15 seconds. The key goes into the \`Authorization\` header, never into the address, which ends up in logs.`;

export function addStreamRoutes(app: App, deps: HttpDeps): void {
  const both = [
    [
      '/v1/emitters/:id/events',
      'streamEvents',
      'Listen to an emitter',
      idIn(PREFIX.source, 'A source, workflow or webhook.'),
    ],
    ['/sse/dc/:id/emits', 'streamSourceEvents', 'Listen to a source', idIn(PREFIX.source, 'The source.')],
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
      answer: Type.String({
        examples: [
          'id: 1782000000123-0\ndata: {"id":"1782000000123-0","indexed_at_ms":1782000000123,"event":{"id":7},"metadata":{}}\n\n',
        ],
      }),
    });
    app.get(url, { schema, exposeHeadRoute: false }, async (request, reply) => {
      if (isOfSource && !request.params.id.startsWith(PREFIX.source)) throw notFound('source', request.params.id);
      await stream(deps, { request, reply, id: request.params.id, query: request.query });
      return reply;
    });
  }
}

interface StreamRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly id: string;
  readonly query: { readonly event_name?: string; readonly last_event_id?: string };
}

async function stream({ store, streams }: HttpDeps, { request, reply, id, query }: StreamRequest): Promise<void> {
  const { ownerId } = request.caller;
  const name = query.event_name ?? '';
  if (name === '$in') throw waitingOnly();
  const after = cursorOf(request.headers['last-event-id'] ?? query.last_event_id);
  if (!EMITTERS.test(id) || !(await store.exists(ownerId, id))) throw notFound('emitter', id);
  const keyHash = sha256Hex(bearerOf(request.headers.authorization) ?? '');
  const isAllowed = async (): Promise<boolean> => {
    const key = await store.keyByHash(keyHash);
    return key !== undefined && isGood(key, store.clock.nowMs()) && (await store.exists(ownerId, id));
  };
  const open = await streams.openStream({ channel: { ownerId, emitterId: id, name }, after, isAllowed });
  const { raw } = reply;
  raw.on('close', () => open.close());
  raw.on('error', () => open.close());
  if (raw.destroyed) return open.close();
  reply.hijack();
  raw.on('drain', () => open.resume());
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    // Keeps proxies from storing or buffering it.
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': request.id,
  });
  open.begin(sinkOf(raw));
}

function cursorOf(given: string | string[] | undefined): number | null {
  if (given === undefined || given === '') return null;
  const entry = typeof given === 'string' ? entryOf(given) : undefined;
  if (entry !== undefined) return entry;
  const message = `must be the id of a record, like 1782000000123-0, but was ${JSON.stringify(String(given).slice(0, 80))}`;
  throw new Refusal('malformed', `Last-Event-ID ${message}`, { errors: [{ parameter: 'Last-Event-ID', message }] });
}

function waitingOnly(): Refusal {
  const message = 'cannot be $in: what waits there is not emitted yet, and is heard on its own channel when it is';
  return new Refusal('impossible', `event_name ${message}`, { errors: [{ parameter: 'event_name', message }] });
}

function sinkOf(res: ServerResponse): StreamSink {
  return {
    write: (bytes) => {
      let takesMore = true;
      for (let at = 0; at < bytes.byteLength; at += WRITTEN_BYTES) {
        takesMore = res.write(bytes.subarray(at, at + WRITTEN_BYTES));
      }
      return takesMore;
    },
    bufferedBytes: () => res.writableLength,
    end: () => res.end(),
    cut: () => res.destroy(),
  };
}
