// Makes calls: one attempt after another until there is an answer, or no more is to be expected.

import { keepAnswer } from './answers.ts';
import { MAX_TIMER_MS } from './body.ts';
import { type StreamEvent, type StreamOptions, streamEvents } from './events.ts';
import { exportLines } from './lines.ts';
import type { CallOptions, ErrandOptions, Open, Route } from './options.ts';
import { type Page, type Paged, pagesOf } from './paged.ts';
import { ConnectionError, problemOf } from './problem.ts';
import { baseOf, checkKey, checkNumbers, isRepeatable, type MadeRequest, requestOf } from './request.ts';
import { pause, retryDelayMs } from './retry.ts';

export interface Transport {
  /** Resolves to the whole answer. Throws `ProblemError`, `ConnectionError`, or the signal's reason. */
  send<T>(route: Route, input: object, options: CallOptions): Promise<T>;
  text(route: Route, input: object, options: CallOptions): Promise<string>;
  list<P extends Page>(route: Route, input: object, options: CallOptions): Paged<P>;
  events<T>(route: Route, input: object, options: StreamOptions): AsyncIterable<StreamEvent<T>>;
  lines<T extends { readonly id: string }>(route: Route, input: object, options: CallOptions): AsyncIterable<T>;
}

const TIMEOUT_MS = 60_000;
const RETRIES = 3;
/** Node's and undici's codes of what was never sent. */
const UNSENT: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'EAI_AGAIN', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);
/** The code of Node's TLS for an answer that is not TLS: its message tells of bytes and files of OpenSSL. */
const NO_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';
const EVENTS = 'text/event-stream';
const LINES = 'application/x-ndjson';

export function createTransport(own: ErrandOptions): Transport {
  baseOf(own.url);
  checkKey(own.key);
  checkNumbers(own);
  const opener =
    (route: Route, type: string): Open =>
    async (input, options) => {
      const response = await call(own, route, { input, options }, async (opened) => opened);
      if (typeOf(response) === type) return response;
      await response.body?.cancel();
      throw notAnswered(response, own, route);
    };
  const send = async <T>(route: Route, input: object, options: CallOptions): Promise<T> => {
    const { text, response } = await call(own, route, { input, options }, readWhole);
    return readJson(text, response, { own, route }) as T;
  };
  return {
    send,
    text: (route: Route, input: object, options: CallOptions) =>
      call(own, route, { input, options }, (response) => response.text()),
    list: <P extends Page>(route: Route, input: object, options: CallOptions) =>
      pagesOf<P>((cursor) => send<P>(route, { ...input, ...cursor }, options), input),
    events: <T>(route: Route, input: object, options: StreamOptions) =>
      streamEvents<T>(opener(route, EVENTS), input, options),
    lines: <T extends { readonly id: string }>(route: Route, input: object, options: CallOptions) =>
      exportLines<T>(opener(route, LINES), input, options),
  };
}

interface CallInput {
  readonly input: object;
  readonly options: CallOptions;
}

async function call<T>(
  own: ErrandOptions,
  route: Route,
  { input, options }: CallInput,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  checkNumbers(options);
  const request = requestOf(own, route, { input, options });
  const retries = options.retries ?? own.retries ?? RETRIES;
  const tried = { retries, isRepeatable: isRepeatable(route, request.init) };
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(own, request, { options, read });
    } catch (error) {
      options.signal?.throwIfAborted();
      const delayMs = retryDelayMs(error, { ...tried, attempts });
      if (delayMs === null) throw error;
      await pause(delayMs, options.signal);
    }
  }
}

interface Attempted<T> {
  readonly options: CallOptions;
  readonly read: (response: Response) => Promise<T>;
}

/**
 * Sends the request once. The time ends with `read`: a stream's is only until its answer begins, the signal's for as long as it
 * is read.
 */
async function attempt<T>(own: ErrandOptions, { url, init }: MadeRequest, { options, read }: Attempted<T>): Promise<T> {
  const { signal } = options;
  signal?.throwIfAborted();
  const timeoutMs = options.timeoutMs ?? own.timeoutMs ?? TIMEOUT_MS;
  const late = new AbortController();
  const timer = timeoutMs > MAX_TIMER_MS ? undefined : setTimeout(() => late.abort(), timeoutMs);
  const signals = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    const answering = (own.fetch ?? fetch)(url, { ...init, redirect: 'manual', signal: signals });
    const response = await answering;
    if (response.ok) return await read(response);
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      const to = response.headers.get('location');
      throw new ConnectionError(`${url} redirects${to ? ` to ${to}` : ''}: give the address of the server itself`);
    }
    throw problemOf(response, await response.text(), Date.now());
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (late.signal.aborted) throw new ConnectionError(`${init.method} ${url} took longer than ${timeoutMs} ms`);
    throw error instanceof TypeError ? unreachable(url, error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the error for a request that reached no server. `fetch` throws a `TypeError` whose cause, where the platform tells
 * it, says why.
 */
function unreachable(url: string, error: TypeError): ConnectionError {
  const { code, message } = (error.cause ?? {}) as { code?: string; message?: string };
  const origin = /^https?:\/\/[^/]+/.exec(url)?.[0] ?? 'the server';
  const wasSent = code === undefined || !UNSENT.has(code);
  const why = code === NO_TLS ? 'it does not speak TLS; is its address http://?' : message || code || error.message;
  return new ConnectionError(`${origin} cannot be reached: ${why}`, {
    cause: error,
    wasSent,
  });
}

interface Whole {
  readonly text: string;
  readonly response: Response;
}

/** Reads an answer of JSON. Half of one, of a proxy that gave up, is a connection that broke: the call may be made again. */
async function readWhole(response: Response): Promise<Whole> {
  const text = await response.text();
  if (typeOf(response) === 'application/json' && parsed(text) === undefined)
    throw new ConnectionError(`the answer of ${response.url} is not whole`);
  return { text, response };
}

/** Returns the answer as its caller gets it, with its text and its `ETag` beside it. */
function readJson(text: string, response: Response, at: { own: ErrandOptions; route: Route }): object {
  const answer = parsed(text);
  if (typeof answer !== 'object' || answer === null) throw notAnswered(response, at.own, at.route);
  keepAnswer(answer, { text, etag: response.headers.get('etag') });
  return answer;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the media type of an answer, without its parameters. */
function typeOf({ headers }: Response): string {
  return (headers.get('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();
}

function notAnswered(response: Response, { url }: ErrandOptions, { method, path, isPublic }: Route): ConnectionError {
  const type = typeOf(response) || 'something of no media type';
  const why = isPublic ? 'what code answers itself is read with fetch' : 'is that an Errand server?';
  return new ConnectionError(`${method} ${url ?? ''}${path} was answered with ${type}: ${why}`);
}
