// The API of a vendor, on loopback, as components of the public kind talk to it: tasks, hooks that call back, refusals.

import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../client.ts';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  /** The body, when it is JSON. */
  readonly body: Json;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or text as it is. */
  readonly body?: Json;
}

export type Answerer = (call: Call) => Reply | Promise<Reply>;

export interface Vendor extends AsyncDisposable {
  readonly url: string;
  readonly calls: Call[];
  /** By method and path: `GET /tasks`. What is not there is 404. */
  on(route: string, answer: Answerer | Reply): void;
  /** Calls to a route so far. */
  of(route: string): Call[];
}

export async function startVendor(): Promise<Vendor> {
  const calls: Call[] = [];
  const routes = new Map<string, Answerer>();
  const server = createServer(async (request, response) => {
    const call = await callOf(request);
    calls.push(call);
    const answer = routes.get(`${call.method} ${call.path}`);
    const { status = 200, headers = {}, body = '' } = answer === undefined ? { status: 404 } : await answer(call);
    const isText = typeof body === 'string';
    const type = isText ? {} : { 'content-type': 'application/json' };
    response.writeHead(status, { ...type, ...headers }).end(isText ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    on: (route, answer) => {
      routes.set(route, typeof answer === 'function' ? answer : () => answer);
    },
    of: (route) => calls.filter(({ method, path }) => `${method} ${path}` === route),
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function callOf(request: IncomingMessage): Promise<Call> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const raw = Buffer.concat(parts).toString();
  const url = new URL(request.url ?? '/', 'http://vendor');
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    raw,
    body: parsed(raw),
  };
}

function parsed(raw: string): Json {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}
