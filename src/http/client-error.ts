// What never became a request: malformed HTTP, headers too large, a body that ended early or came too slowly. Node hands
// over the bare socket, so the answer is written by hand.
//
// A pipelined request may be broken while the one before it is still being answered: then that answer goes out first,
// since a 400 in its place would say of an accepted event that it was refused.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../domain/fault.ts';
import { problemFrom } from './problem.ts';

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

export interface ClientErrors {
  /** To be told of each request, so that a broken one is told from the one before it. */
  begin(req: IncomingMessage, res: ServerResponse): void;
  handle(error: NodeJS.ErrnoException, socket: Socket): void;
}

const DETAILS: Readonly<Record<string, string>> = {
  HPE_INVALID_EOF_STATE: 'The request ended before its body was complete',
  HPE_HEADER_OVERFLOW: 'The headers are larger than 16 KiB',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive',
};

export function clientErrors(nextRequestId: () => string): ClientErrors {
  const last = new WeakMap<Socket, Exchange>();

  function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable) return void socket.destroy();
    const detail = DETAILS[error.code ?? ''] ?? 'This is not a valid HTTP request';
    const problem = problemFrom(new Refusal('malformed', detail), nextRequestId());
    const headers = { ...problem.headers, 'content-length': Buffer.byteLength(problem.body), connection: 'close' };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${problem.body}`, () => socket.destroy());
  }

  return {
    begin: (req, res) => void last.set(req.socket, { req, res }),
    handle: (error, socket) => {
      const exchange = last.get(socket);
      if (error.code === 'ECONNRESET') return void socket.destroy();
      if (!exchange || exchange.res.writableFinished) return refuse(error, socket);
      if (exchange.req.complete) exchange.res.once('finish', () => refuse(error, socket));
      else if (exchange.res.headersSent) socket.destroy();
      else refuse(error, socket);
    },
  };
}
