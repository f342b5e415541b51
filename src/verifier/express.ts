// For receivers, `errand/webhooks/express`: middleware for express, connect and others of their shape.
//
//   app.post('/hook', webhookMiddleware({ secrets: process.env.WEBHOOK_SECRET }), (request, response) => {
//     const event = JSON.parse(request.webhook.body.toString());

import { Buffer } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReceiver, type Received, type ReceivedWebhook, type ReceiverOptions } from './receiver.ts';

declare global {
  namespace Express {
    interface Request {
      /** Set after `webhookMiddleware`. */
      webhook?: ReceivedWebhook;
    }
  }
}

interface Request extends IncomingMessage {
  body?: unknown;
  rawBody?: unknown;
  webhook?: ReceivedWebhook;
}

type Middleware = (request: Request, response: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * Passes genuine requests on, with `request.webhook` and the bytes in `request.body`; answers 400, 401 or 413 to others.
 * Reads the body itself, or takes what express.raw() has read. After express.json() it fails with an error that says so.
 */
export function webhookMiddleware(options: ReceiverOptions): Middleware {
  const receiver = createReceiver(options);

  async function received(request: Request): Promise<Received> {
    const read = bytesOf(request);
    if (read) return receiver.judge(request.headers, read);
    if (request.readableDidRead || request.readableEnded) {
      throw new Error(
        'the body was read before webhookMiddleware saw it, and the signature covers its bytes as they came: ' +
          "put it before express.json(), or express.raw({ type: '*/*' }) in its place",
      );
    }
    // Not destroyed when it is too long: the answer uses the same connection.
    const stream = request.iterator({ destroyOnReturn: false });
    return receiver.receive(request.headers, stream, Number(request.headers['content-length'] ?? 0));
  }

  return (request, response, next) => {
    received(request).then((result) => {
      if (!result.ok) return refuse(response, result.status, result.reason);
      request.webhook = result;
      request.body = result.body;
      next();
    }, next);
  };
}

/** Returns what was read before, if it is still the bytes; undefined otherwise. */
function bytesOf({ body, rawBody }: Request): Buffer | undefined {
  for (const read of [rawBody, body]) {
    if (read instanceof Uint8Array) return Buffer.from(read.buffer, read.byteOffset, read.byteLength);
    if (typeof read === 'string') return Buffer.from(read);
  }
  return undefined;
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  if (status === 413) {
    // The rest is discarded until the answer is sent: closing with unread bytes could lose the answer.
    response.setHeader('connection', 'close');
    response.req.resume();
  }
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ error: reason }));
}
