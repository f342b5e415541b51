// Answers what never became a request: malformed HTTP, oversized headers, a body that ended early or came too slowly. Node
// hands over the bare socket, so the answer is written by hand.
//
// A pipelined request may be broken while an earlier one is still being answered. That answer is sent first: a 400 in its
// place would report an accepted event as refused.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import { STATUS_CODES } from '../../node-http.ts';
import type { Problem } from '../problem.ts';

/** The newest answer of a socket, stored on the socket: a WeakMap would be written to with every request. */
const LAST = Symbol('last answer');

/** Set on sockets whose answer to a broken request waits for an earlier answer: later packets are broken, too. */
const BROKEN = Symbol('broken');

interface AnsweringSocket extends Socket {
  [LAST]?: ServerResponse;
  [BROKEN]?: boolean;
}

/** Answers to requests that node:http could not read. */
export interface ClientErrors {
  /** Notes a request. It is called for each one, so that a broken request is not mistaken for the one before it. */
  begin(req: IncomingMessage, res: ServerResponse): void;
  handle(error: NodeJS.ErrnoException, socket: Socket): void;
  /** Returns whether all requests of `socket` have been answered. */
  isIdle(socket: Socket): boolean;
}

const DETAILS: Readonly<Record<string, string>> = {
  HPE_INVALID_EOF_STATE: 'The request ended before its body was complete',
  HPE_HEADER_OVERFLOW: `The address and the headers are larger than ${LIMITS.requestHeaderBytes / 1024} KiB together`,
};

/** What Node says of a request whose time is over. */
const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT';

function refusalOf(code: string): Refusal {
  if (code === TIMED_OUT) return new Refusal('too_slow', 'The request took too long to arrive');
  return new Refusal('malformed', DETAILS[code] ?? 'This is not a valid HTTP request');
}

/** Returns the bytes of a whole answer, after which the connection closes. */
export function rawProblem({ status, headers, body }: Problem): string {
  const ours = { 'content-length': Buffer.byteLength(body), 'x-content-type-options': 'nosniff', connection: 'close' };
  const lines = Object.entries({ ...headers, ...ours }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

/** Creates the answers to requests that cannot be read. `problemTo`: returns the answer that refuses, and counts it. */
export function clientErrors(problemTo: (refusal: Refusal) => Problem): ClientErrors {
  function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable) return void socket.destroy();
    socket.end(rawProblem(problemTo(refusalOf(error.code ?? ''))), () => socket.destroy());
  }

  function handle(error: NodeJS.ErrnoException, socket: AnsweringSocket): void {
    const res = socket[LAST];
    if (error.code === 'ECONNRESET') socket.destroy();
    // The request was refused by its head and is still arriving: a second answer would be taken for the next request's.
    else if (res?.writableFinished && !res.req.complete) socket.destroy();
    else if (!res || res.writableFinished) refuse(error, socket);
    else if (res.req.complete) {
      if (!socket[BROKEN]) res.once('finish', () => refuse(error, socket));
      socket[BROKEN] = true;
    }
    // A refusal may be whole already, and not sent yet. A part of an answer is cut off.
    else if (res.headersSent) socket.destroySoon();
    else refuse(error, socket);
  }

  return {
    begin: (req, res) => {
      (req.socket as AnsweringSocket)[LAST] = res;
    },
    handle: (error, socket: AnsweringSocket) => {
      if (error.code === TIMED_OUT) unlessArrived(socket, () => handle(error, socket));
      else handle(error, socket);
    },
    isIdle: (socket) => (socket as AnsweringSocket)[LAST]?.writableFinished ?? true,
  };
}

/**
 * Calls `refuse` when the rest of the request is not there yet. Node judges before it reads: what has come in the same turn lies
 * unread. A connection that has never said anything is closed without an answer, which its caller would take for the one to the
 * request that it sends at that moment.
 */
function unlessArrived(socket: AnsweringSocket, refuse: () => void): void {
  const { [LAST]: before, bytesRead } = socket;
  const wasComplete = before?.req.complete ?? true;
  // All that has arrived is read by then.
  setImmediate(() => {
    const last = socket[LAST];
    // Node counts the time of a request from its first byte.
    if (bytesRead === 0 && socket.bytesRead > 0) return;
    const hasArrived = (last !== before || !wasComplete) && last?.req.complete === true;
    if (bytesRead === 0) socket.destroy();
    else if (!hasArrived) refuse();
  });
}
