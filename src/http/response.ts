// The header that every answer carries, set where Node writes the head, so that no route can leave it out. With
// `setHeader`, the ingress's flat header lists would leave Node's fast path.

import type {
  ServerResponse as HttpResponse,
  IncomingMessage,
  OutgoingHttpHeader,
  OutgoingHttpHeaders,
} from 'node:http';
import type { Socket } from 'node:net';
import { ServerResponse } from '../node-http.ts';

/** A request, the response to it, and the id of both. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: HttpResponse;
  readonly requestId: string;
}

export type RequestHandler = (req: IncomingMessage, res: HttpResponse) => void;

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A browser that guesses a content type may find scripts in events and errors. */
const NAME = 'x-content-type-options';
const VALUE = 'nosniff';

/** Answers of one connection that wait for earlier ones, counted on the socket. */
const QUEUED = Symbol('queued');

interface PipelinedSocket extends Socket {
  [QUEUED]?: number;
}

export class GuardedResponse extends ServerResponse<IncomingMessage> {
  #isQueued = false;

  /** Returns how many answers wait on the connection, this one included; more than 0 only for pipelined requests. */
  queued(socket: PipelinedSocket): number {
    if (this.socket !== null) return 0;
    this.#isQueued = true;
    socket[QUEUED] = (socket[QUEUED] ?? 0) + 1;
    return socket[QUEUED];
  }

  override assignSocket(socket: PipelinedSocket): void {
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

/** Adds to flat lists in place: their writers make one per answer. */
function guarded(headers: Headers | undefined): Headers {
  if (Array.isArray(headers)) {
    headers.push(NAME, VALUE);
    return headers;
  }
  return { ...headers, [NAME]: VALUE };
}
