// What every answer carries, whichever part writes it and by whichever way: set where Node writes the head, so that no
// route can leave it out. Set beforehand, with `setHeader`, it would take the flat lists of the ingress off Node's fast path.

import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A browser that guesses at a type finds scripts in events and errors. */
const NAME = 'x-content-type-options';
const VALUE = 'nosniff';

/** Answers of one connection that wait for those before them, counted on the socket. */
const QUEUED = Symbol('queued');

interface Counted extends Socket {
  [QUEUED]?: number;
}

export class GuardedResponse extends ServerResponse<IncomingMessage> {
  #isQueued = false;

  /** How many answers wait on the connection, this one included: none but where a caller sends requests ahead. */
  queued(socket: Counted): number {
    if (this.socket !== null) return 0;
    this.#isQueued = true;
    socket[QUEUED] = (socket[QUEUED] ?? 0) + 1;
    return socket[QUEUED];
  }

  override assignSocket(socket: Counted): void {
    if (this.#isQueued) socket[QUEUED] = (socket[QUEUED] ?? 1) - 1;
    super.assignSocket(socket);
  }

  override writeHead(status: number, statusMessage?: string, headers?: Headers): this;
  override writeHead(status: number, headers?: Headers): this;
  override writeHead(status: number, second?: string | Headers, third?: Headers): this {
    if (typeof second === 'string') return super.writeHead(status, second, guarded(third));
    return super.writeHead(status, guarded(second ?? third));
  }
}

/** Flat lists are added to, since those who write them make one for each answer. */
function guarded(headers: Headers | undefined): Headers {
  if (Array.isArray(headers)) {
    headers.push(NAME, VALUE);
    return headers;
  }
  return { ...headers, [NAME]: VALUE };
}
