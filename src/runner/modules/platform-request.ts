// Sends one request and handles redirects, decompression and time limits. Part of what stands in for
// `@pipedream/platform`. It uses Node's own client, since `fetch` sends no body with GET and takes no agent, which is
// where components put client certificates.

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Headers, SentBody } from './platform-body.ts';

export interface Sending {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: SentBody;
  readonly maxRedirects: number;
  /** 0: no time limit. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Whether a compressed body is decompressed. */
  readonly isInflated: boolean;
  readonly httpAgent: unknown;
  readonly httpsAgent: unknown;
}

export interface ReceivedResponse {
  readonly response: IncomingMessage;
  /** The response's body, decompressed. */
  readonly content: Readable;
  /** The address after all redirects. */
  readonly url: string;
  /** Ends the time limit. */
  readonly inTime: () => void;
}

const REDIRECTS = [301, 302, 303, 307, 308];
const CONTENT = /^content-|^transfer-encoding$/i;
const PRIVATE = /^(authorization|cookie|proxy-authorization|host)$/i;

/** Sends a request. Rejects with a coded error when no answer arrives in time. */
export async function send(sending: Sending): Promise<ReceivedResponse> {
  const stop = new AbortController();
  const { timeoutMs } = sending;
  const late = codedError('ECONNABORTED', `timeout of ${timeoutMs}ms exceeded`);
  const timer = timeoutMs > 0 ? setTimeout(() => stop.abort(late), timeoutMs) : undefined;
  const signal = sending.signal ? AbortSignal.any([sending.signal, stop.signal]) : stop.signal;
  try {
    const { response, url } = await follow(sending, signal);
    const content = sending.isInflated ? inflated(response, sending.method) : response;
    // The reader of the body sees the abort as an error.
    signal.addEventListener('abort', () => content.destroy(signal.reason as Error), { once: true });
    return { response, content, url, inTime: () => clearTimeout(timer) };
  } catch (error) {
    clearTimeout(timer);
    throw signal.aborted ? reasonOf(signal) : error;
  }
}

function reasonOf({ reason }: AbortSignal): unknown {
  if ((reason as { code?: unknown } | null)?.code === 'ECONNABORTED') return reason;
  return codedError('ERR_CANCELED', 'canceled');
}

async function follow(sending: Sending, signal: AbortSignal): Promise<{ response: IncomingMessage; url: string }> {
  let { url, method, headers } = sending;
  let { content } = sending.body;
  for (let left = sending.maxRedirects; ; left--) {
    const response = await once({ ...sending, url, method, headers, content }, signal);
    const { statusCode = 0 } = response;
    const { location } = response.headers;
    if (!REDIRECTS.includes(statusCode) || location === undefined || sending.maxRedirects === 0) {
      return { response, url };
    }
    response.resume();
    if (left === 0) throw codedError('ERR_FR_TOO_MANY_REDIRECTS', 'Maximum number of redirects exceeded');
    const next = new URL(location, url);
    const isGet = statusCode === 303 ? method !== 'HEAD' : statusCode < 303 && method === 'POST';
    if (isGet) {
      method = 'GET';
      headers = without(headers, CONTENT);
      content = null;
    } else if (content !== null && 'pipe' in content) {
      throw codedError('ERR_BAD_REQUEST', `${url} redirects to ${next.href}, and a stream cannot be sent twice`);
    }
    if (isElsewhere(next, new URL(url))) headers = without(headers, PRIVATE);
    url = next.href;
  }
}

/** Returns whether the address is another host, or the same one without encryption. */
function isElsewhere(next: URL, before: URL): boolean {
  return next.host !== before.host || (next.protocol === 'http:' && before.protocol === 'https:');
}

function without(headers: Headers, names: RegExp): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.test(name)));
}

interface SingleRequest extends Omit<Sending, 'body'> {
  readonly content: SentBody['content'];
}

function once(sending: SingleRequest, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method, headers, content } = sending;
    const url = new URL(sending.url);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw codedError('ERR_BAD_REQUEST', `Unsupported protocol ${url.protocol}`);
    }
    const isSecure = url.protocol === 'https:';
    const agent = (isSecure ? sending.httpsAgent : sending.httpAgent) as never;
    const options = { method, headers: headers as Record<string, string>, agent, signal };
    const request: ClientRequest = (isSecure ? httpsRequest : httpRequest)(url, options);
    request.on('response', resolve).on('error', reject);
    if (content === null) request.end();
    else if ('pipe' in content) pipeline(content, request, (error) => error && reject(error));
    else request.end(content);
  });
}

const INFLATERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function inflated(response: IncomingMessage, method: string): Readable {
  const encoding = String(response.headers['content-encoding'] ?? '').toLowerCase();
  const inflater = Object.hasOwn(INFLATERS, encoding) ? INFLATERS[encoding] : undefined;
  if (inflater === undefined || response.statusCode === 204 || response.statusCode === 304) return response;
  delete response.headers['content-encoding'];
  if (method === 'HEAD') return response;
  return pipeline(response, inflater(), () => undefined) as Transform;
}

export function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
