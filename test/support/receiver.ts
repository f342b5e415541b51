// A webhook's receiver on loopback, which keeps what it got and answers as told.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './wait.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  /** Status of the next answers: a number, or a function of the request's number (from 0); with headers and body. */
  answer(status: number | ((n: number) => number), headers?: Record<string, string>, body?: string): void;
  /** Waits until `count` requests came. */
  wait(count: number): Promise<Received[]>;
}

/** At a free port, unless told otherwise. */
export async function startReceiver(atPort = 0): Promise<Receiver> {
  const received: Received[] = [];
  let statusOf: (n: number) => number = () => 200;
  let more: Record<string, string> = {};
  let text: string | undefined;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const status = statusOf(received.length);
      received.push({
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(parts),
      });
      response.writeHead(status, { 'content-type': 'text/plain', ...more }).end(text ?? `answered ${status}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(atPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    answer: (status, headers = {}, body) => {
      more = headers;
      text = body;
      statusOf = typeof status === 'number' ? () => status : status;
    },
    wait: (count) => until(`${count} requests at the receiver`, () => received.length >= count && received),
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
