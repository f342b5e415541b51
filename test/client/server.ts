// A server that answers as a test says, call after call, and keeps what it was asked.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answer = (response: ServerResponse, asked: Asked, n: number) => void;

export interface Scripted extends AsyncDisposable {
  readonly url: string;
  readonly asked: Asked[];
}

/** `answer`: called with each request's number, from 0. */
export async function startScripted(answer: Answer): Promise<Scripted> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body: Buffer.concat(parts).toString() };
      asked.push(one);
      answer(response, one, asked.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function sendJson(response: ServerResponse, status: number, value: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

export function refuse(response: ServerResponse, status: number, code: string, headers: object = {}): void {
  const problem = {
    type: `/docs/errors#${code}`,
    title: code,
    status,
    detail: `it is ${code}`,
    error: `it is ${code}`,
  };
  sendJson(response, status, problem, { 'content-type': 'application/problem+json', ...headers });
}
