// What never became a request: malformed HTTP, headers too large, a body that ended early or came too slowly. Node hands
// over the bare socket, so the answer is written by hand.
//
// A pipelined request may be broken while the one before it is still being answered: then that answer goes out first,
// since a 400 in its place would say of an accepted event that it was refused.

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Refusal } from '../../domain/fault.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Problem } from '../problem.ts';

/** The newest answer of a socket, kept on the socket itself: a WeakMap would be written to with every request. */
const LAST = Symbol('last answer');

/** On sockets whose answer to a broken request waits for the one before it: every later packet is broken, too. */
const BROKEN = Symbol('broken');

interface Tracked extends Socket {
  [LAST]?: ServerResponse;
  [BROKEN]?: boolean;
}

/** Answers to requests that node:http could not read. */
export interface ClientErrors {
  /** To be told of each request, so that a broken one is told from the one before it. */
  begin(req: IncomingMessage, res: ServerResponse): void;
  handle(error: NodeJS.ErrnoException, socket: Socket): void;
  /** Whether all that came over `socket` has been answered. */
  isIdle(socket: Socket): boolean;
}

const DETAILS: Readonly<Record<string, string>> = {
  HPE_INVALID_EOF_STATE: 'The request ended before its body was complete',
  HPE_HEADER_OVERFLOW: `The address and the headers are larger than ${LIMITS.requestHeaderBytes / 1024} KiB together`,
};

function refusalOf(code: string): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Refusal('too_slow', 'The request took too long to arrive');
  return new Refusal('malformed', DETAILS[code] ?? 'This is not a valid HTTP request');
}

/** A whole answer, after which the connection closes. */
export function rawProblem({ status, headers, body }: Problem): string {
  const ours = { 'content-length': Buffer.byteLength(body), 'x-content-type-options': 'nosniff', connection: 'close' };
  const lines = Object.entries({ ...headers, ...ours }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

/** `problemTo`: the answer that refuses, counted. */
export function clientErrors(problemTo: (refusal: Refusal) => Problem): ClientErrors {
  function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable) return void socket.destroy();
    socket.end(rawProblem(problemTo(refusalOf(error.code ?? ''))), () => socket.destroy());
  }

  return {
    begin: (req, res) => {
      (req.socket as Tracked)[LAST] = res;
    },
    handle: (error, socket: Tracked) => {
      const res = socket[LAST];
      if (error.code === 'ECONNRESET') socket.destroy();
      // Its request was refused by the head, and is still arriving: a second answer would be taken for the next one's.
      else if (res?.writableFinished && !res.req.complete) socket.destroy();
      else if (!res || res.writableFinished) refuse(error, socket);
      else if (res.req.complete) {
        if (!socket[BROKEN]) res.once('finish', () => refuse(error, socket));
        socket[BROKEN] = true;
      } else if (res.headersSent) socket.destroy();
      else refuse(error, socket);
    },
    isIdle: (socket) => (socket as Tracked)[LAST]?.writableFinished ?? true,
  };
}
