// What never became a request: malformed HTTP, headers too large, a body that ended early or came too slowly. Node hands
// over the bare socket, so the answer is written by hand.
//
// A pipelined request may be broken while the one before it is still being answered: then that answer goes out first,
// since a 400 in its place would say of an accepted event that it was refused.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../domain/fault.ts';
import { LIMITS } from '../domain/limits.ts';
import { problemFrom } from './problem.ts';

/** The newest answer of a socket, kept on the socket itself: a WeakMap would be written to with every request. */
const LAST = Symbol('last answer');

interface Tracked extends Socket {
  [LAST]?: ServerResponse;
}

/** Answers to requests that node:http could not read. */
export interface ClientErrors {
  /** To be told of each request, so that a broken one is told from the one before it. */
  begin(req: IncomingMessage, res: ServerResponse): void;
  handle(error: NodeJS.ErrnoException, socket: Socket): void;
}

const DETAILS: Readonly<Record<string, string>> = {
  HPE_INVALID_EOF_STATE: 'The request ended before its body was complete',
  HPE_HEADER_OVERFLOW: `The address and the headers are larger than ${LIMITS.requestHeaderBytes / 1024} KiB together`,
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive',
};

export function clientErrors(nextRequestId: () => string): ClientErrors {
  function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable) return void socket.destroy();
    const detail = DETAILS[error.code ?? ''] ?? 'This is not a valid HTTP request';
    const problem = problemFrom(new Refusal('malformed', detail), nextRequestId());
    const length = Buffer.byteLength(problem.body);
    const ours = { 'content-length': length, 'x-content-type-options': 'nosniff', connection: 'close' };
    const headers = { ...problem.headers, ...ours };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${problem.body}`, () => socket.destroy());
  }

  return {
    begin: (req, res) => {
      (req.socket as Tracked)[LAST] = res;
    },
    handle: (error, socket) => {
      const res = (socket as Tracked)[LAST];
      if (error.code === 'ECONNRESET') socket.destroy();
      else if (!res || res.writableFinished) refuse(error, socket);
      else if (res.req.complete) res.once('finish', () => refuse(error, socket));
      else if (res.headersSent) socket.destroy();
      else refuse(error, socket);
    },
  };
}
