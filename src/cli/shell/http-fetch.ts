// A `fetch` on Node's own HTTP client, for calls of the API. The platform's loads 130 modules with the first call, HTTP/2 and web
// streams among them: a short command took 480 in place of 270 ms of CPU.

import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

const REDIRECTS = 3;
const NO_TLS = /ssl routines:.*:wrong version number/i;

/** What the client reads of an answer. */
interface Answer extends Pick<Response, 'ok' | 'status' | 'statusText' | 'type' | 'url' | 'text' | 'body'> {
  readonly headers: Pick<Headers, 'get'>;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | null;
}

/**
 * Takes the address as text, headers as an object and a body as text, follows no redirect, and returns what `Answer` names: all that
 * the client asks for. Rejects as `fetch` does: with the signal's reason, or with a `TypeError` whose cause says why.
 */
export const httpFetch = ask as unknown as typeof fetch;

async function ask(address: string, { method = 'GET', headers, body, signal }: Asked = {}): Promise<Answer> {
  const url = new URL(address);
  signal?.throwIfAborted();
  const begin = beginOf(url);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Nothing here inflates.
  const all = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'node', ...headers };
  const request = begin(url, { method, headers: all, ...(signal ? { signal } : {}) });
  request.once('response', resolve);
  // Later ones are those of the answer that is being read.
  request.on('error', (error) => reject(failed('fetch failed', error, signal)));
  request.end(body);
  const message = await promise;
  // Its body is not asked for, and what is not read holds the process.
  if (Math.trunc((message.statusCode ?? 0) / 100) === REDIRECTS) message.resume();
  return answerOf(message, address, signal);
}

function beginOf({ protocol }: URL): (url: URL, options: RequestOptions) => ClientRequest {
  // Without an import of `node:http`, which would load what is left out here (src/node-http.ts).
  if (protocol === 'http:') return process.getBuiltinModule('node:http').request;
  if (protocol === 'https:') return process.getBuiltinModule('node:https').request;
  throw failed('fetch failed', new Error(`unknown scheme ${protocol}`));
}

function answerOf(message: IncomingMessage, url: string, signal: AbortSignal | null | undefined): Answer {
  const { statusCode: status = 0, statusMessage: statusText = '', headers } = message;
  return {
    ...{ ok: status >= 200 && status < 300, status, statusText, type: 'basic', url },
    headers: { get: (name) => textOf(headers[name.toLowerCase()]) },
    text: async () => {
      try {
        return new TextDecoder().decode(await buffer(message));
      } catch (error) {
        throw failed('terminated', error as Error, signal);
      }
    },
    get body() {
      return Readable.toWeb(message) as ReadableStream<Uint8Array<ArrayBuffer>>;
    },
  };
}

function textOf(value: string | string[] | undefined): string | null {
  return value === undefined ? null : String(value);
}

function failed(message: string, cause: Error, signal?: AbortSignal | null): unknown {
  if (signal?.aborted) return signal.reason;
  // Of an answer that is not TLS, whichever of reading and writing meets it first.
  const code = NO_TLS.test(cause.message) ? { code: 'ERR_SSL_WRONG_VERSION_NUMBER' } : {};
  return new TypeError(message, { cause: Object.assign(cause, code) });
}
