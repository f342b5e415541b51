// What every answer carries, whichever part writes it and by whichever way: set where Node writes the head, so that no
// route can leave it out. Set beforehand, with `setHeader`, it would take the flat lists of the ingress off Node's fast path.

import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A browser that guesses at a type finds scripts in events and errors. */
const NAME = 'x-content-type-options';
const VALUE = 'nosniff';

export class GuardedResponse extends ServerResponse<IncomingMessage> {
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
