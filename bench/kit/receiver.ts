// A webhook's receiver in a process of its own: counts, and keeps when each delivery's headers arrived.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Arrivals {
  readonly count: number;
  /** By the system's monotonic clock, which all processes share. */
  readonly lastAtMs: number;
  /** By `webhook-id`; only the last 10,000. */
  readonly atMs: Readonly<Record<string, number>>;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  arrivals(): Promise<Arrivals>;
}

const KEPT = 10_000;

/** Milliseconds that mean the same in every process of this machine. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export async function startReceiver(): Promise<Receiver> {
  const child: ChildProcess = fork(import.meta.filename, ['serve']);
  const [port] = await once(child, 'message');
  return {
    url: `http://127.0.0.1:${port}/hook`,
    arrivals: async () => {
      child.send('arrivals');
      const [arrivals] = await once(child, 'message');
      return arrivals as Arrivals;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function serve(): Promise<void> {
  const atMs = new Map<string, number>();
  let count = 0;
  let lastAtMs = 0;
  const server = createServer((request, response) => {
    lastAtMs = sharedNowMs();
    count++;
    if (atMs.size >= KEPT) atMs.clear();
    atMs.set(request.headers['webhook-id'] as string, lastAtMs);
    request.resume();
    request.on('end', () => response.writeHead(200, ['content-length', '0']).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.on('disconnect', () => process.exit(0));
  process.on('message', () => process.send?.({ count, lastAtMs, atMs: Object.fromEntries(atMs) }));
  process.send?.((server.address() as AddressInfo).port);
}

if (import.meta.main) await serve();
