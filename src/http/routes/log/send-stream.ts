// Sends a stream as the answer of a request: server-sent events.

import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { entryOf } from '../../../domain/ids.ts';
import { KIB } from '../../../domain/limits.ts';
import { Refusal } from '../../../domain/refusal.ts';
import type { StreamChannel, StreamSink } from '../../../domain/stream.ts';
import { stillGood } from '../../access/still-good.ts';
import type { HttpDeps } from '../../deps.ts';
import { text } from '../../openapi/schema.ts';
import { Type } from '../../schema/type.ts';

/** Written in parts, so that it shows whether a reader reads. */
const WRITTEN_BYTES = 64 * KIB;

export const STREAM_QUERY = {
  last_event_id: Type.Optional(
    text({ description: 'As the header `Last-Event-ID`, for clients that cannot set one; the header wins.' }),
  ),
  lastEventId: Type.Optional(text({ description: 'The same, as common replacements of `EventSource` send it.' })),
};

interface StreamRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly channel: StreamChannel;
  /** The entry behind which the stream begins; null: now. */
  readonly after: number | null;
  /** Returns whether what the stream is of is still there. */
  readonly isThere: () => Promise<boolean>;
}

export async function sendStream({ store, streams }: HttpDeps, asked: StreamRequest): Promise<void> {
  const { request, reply, channel, after, isThere } = asked;
  const isGood = stillGood(store, request);
  const isAllowed = async (): Promise<boolean> => (await isGood()) && (await isThere());
  const open = await streams.openStream({ channel, after, isAllowed });
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

interface StreamCursor {
  readonly last_event_id?: string;
  readonly lastEventId?: string;
}

/** Returns the entry that `Last-Event-ID`, or the query in its place, names. */
export function streamCursor(request: FastifyRequest, query: StreamCursor): number | null {
  const given = request.headers['last-event-id'] ?? query.last_event_id ?? query.lastEventId;
  if (given === undefined || given === '') return null;
  const entry = typeof given === 'string' ? entryOf(given) : undefined;
  if (entry !== undefined) return entry;
  const message = `must be the id of a record, like 1782000000123-0, but was ${JSON.stringify(String(given).slice(0, 80))}`;
  throw new Refusal('malformed', `Last-Event-ID ${message}`, { errors: [{ parameter: 'Last-Event-ID', message }] });
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
