// The yardsticks: what answering a POST of 1 KB costs when nothing is done with it. `node bench/kit/yardstick.ts http|fastify`
// prints the port; `startYardstick` runs that in a process of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';

export type Kind = 'http' | 'fastify';

export interface Yardstick extends AsyncDisposable {
  readonly url: string;
}

export async function startYardstick(kind: Kind): Promise<Yardstick> {
  const child: ChildProcess = spawn(process.execPath, [import.meta.filename, kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return {
    url: `http://127.0.0.1:${String(port).trim()}/e/anything`,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function serveHttp(): Promise<number> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.writeHead(200, ['content-type', 'application/json', 'content-length', '14']);
      response.end('{"id":"12345"}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function serveFastify(): Promise<number> {
  const app = fastify();
  app.post('/e/:key', async () => ({ id: '12345' }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return (app.server.address() as AddressInfo).port;
}

if (import.meta.main) process.stdout.write(`${await (process.argv[2] === 'http' ? serveHttp() : serveFastify())}\n`);
