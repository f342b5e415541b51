// Sources of our own in a test: a server on loopback that they ask, and runs that are awaited.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, Json } from '../client.ts';
import type { Errand } from '../errand.ts';
import { until } from '../wait.ts';
import { emissions } from './sources.ts';

const OVER = ['succeeded', 'failed', 'cancelled'];

export interface Said {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Asked extends AsyncDisposable {
  readonly url: string;
  /** Of each request that came, its headers. */
  readonly requests: IncomingHttpHeaders[];
  /** What it answers from now on. `headers`: of the request. */
  says(answer: Said | ((headers: IncomingHttpHeaders) => Said)): void;
}

export async function startAsked(path: string): Promise<Asked> {
  const requests: IncomingHttpHeaders[] = [];
  let answer: (headers: IncomingHttpHeaders) => Said = () => ({ status: 404 });
  const server = createServer((request, response) => {
    requests.push(request.headers);
    const { status = 200, headers = {}, body = '' } = answer(request.headers);
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    requests,
    says: (given) => {
      answer = typeof given === 'function' ? given : () => given;
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function tryOwn(errand: Errand, component: string, props: Json = {}): Promise<Answer> {
  return errand.client.request('POST', '/v1/sources', { component, configured_props: props });
}

export function createOwn(errand: Errand, component: string, props: Json = {}): Promise<Json> {
  return errand.client.post('/v1/sources', { component, configured_props: props });
}

/** Runs a source now, and waits for the end of it. */
export async function runNow(errand: Errand, source: Json): Promise<Json> {
  const { run_id: id } = await errand.client.post(`/v1/sources/${source.id}/invoke`, {});
  return await until(`the end of ${id}`, async () => {
    const { data } = await errand.client.get(`/v1/runs/${id}`);
    return OVER.includes(data.state) && data;
  });
}

/** All that it emitted, oldest first. */
export async function emitted(errand: Errand, source: Json): Promise<Json[]> {
  return (await emissions(errand, source.id, 0)).map(({ event }) => event).reverse();
}
