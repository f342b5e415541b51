// For receivers, `errand/webhooks/fastify`: a hook, for the routes that receive webhooks and no others.
//
//   app.post('/hook', { preParsing: webhookPreParsing({ secrets: process.env.WEBHOOK_SECRET }) }, async (request) => {
//     const { id, body } = webhookOf(request);
//
// A hook before parsing, not a content type parser: that would change how every route of its scope is parsed. The route's
// own parser runs after it, so `request.body` is what it always is, and fastify's `bodyLimit` still holds.

import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { createReceiver, type ReceivedWebhook, type ReceiverOptions } from './receiver.ts';

/** The members of fastify's request that are used. */
export interface FastifyLike {
  readonly headers: IncomingHttpHeaders;
}

type PreParsing = (request: FastifyLike, reply: unknown, payload: AsyncIterable<Uint8Array>) => Promise<Readable>;

/** Not a property of the request: that would have to be declared on the server first, and typed by every user. */
const received = new WeakMap<FastifyLike, ReceivedWebhook>();

/** Lets genuine requests through; others fail with an error of status 400, 401 or 413, which fastify answers with. */
export function webhookPreParsing(options: ReceiverOptions): PreParsing {
  const receiver = createReceiver(options);
  return async (request, _reply, payload) => {
    const stream = payload instanceof Readable ? payload.iterator({ destroyOnReturn: false }) : payload;
    const result = await receiver.receive(request.headers, stream, Number(request.headers['content-length'] ?? 0));
    if (!result.ok) {
      const isTooLong = result.status === 413;
      // The rest is discarded until the answer is sent: closing with unread bytes could lose the answer.
      if (isTooLong && payload instanceof Readable) payload.resume();
      const headers = isTooLong ? { connection: 'close' } : {};
      throw Object.assign(new Error(result.reason), { statusCode: result.status, headers });
    }
    received.set(request, result);
    return Readable.from([result.body], { objectMode: false });
  };
}

/** Returns the genuine request, with the event's bytes. Throws on a route without the hook: nothing was verified there. */
export function webhookOf(request: FastifyLike): ReceivedWebhook {
  const webhook = received.get(request);
  if (!webhook) throw new Error('nothing was verified: the route has no webhookPreParsing hook');
  return webhook;
}
