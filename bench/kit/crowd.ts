// Many webhooks' receivers in one process of their own, each at an address of its own (all of 127.0.0.0/8 is this
// machine), so that they share no connections. The path says how one behaves.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { sharedNowMs } from './receiver.ts';

/** `ok`: 200. `dead`: takes the request and never answers, nor counts it. `flaky`: 500 to the first attempt, 200 to the others. */
export type Manner = 'ok' | 'dead' | 'flaky';

export interface Arrival {
  /** Which receiver. */
  readonly n: number;
  readonly id: string;
  readonly attempt: number;
  /** Of the headers, by the clock that all processes share. */
  readonly atMs: number;
}

export interface Tally {
  readonly count: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

export interface Crowd extends AsyncDisposable {
  url(n: number, manner?: Manner): string;
  tally(): Promise<Tally>;
  /** Waits until so many requests have come since the last `forget`. */
  reached(count: number): Promise<Tally>;
  arrivals(): Promise<readonly Arrival[]>;
  forget(): Promise<void>;
}

type Row = [n: number, id: string, attempt: number, atMs: number];

const REACH_MS = 300_000;
const POLL_MS = 20;

export async function startCrowd(): Promise<Crowd> {
  const child: ChildProcess = fork(import.meta.filename, ['serve'], { serialization: 'advanced' });
  const [port] = await once(child, 'message');
  const ask = async <T>(what: 'tally' | 'arrivals' | 'forget'): Promise<T> => {
    child.send(what);
    const [answer] = await once(child, 'message');
    return answer as T;
  };
  const tally = () => ask<Tally>('tally');
  return {
    url: (n, manner = 'ok') => `http://127.${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}:${port}/${manner}/${n}`,
    tally,
    reached: async (count) => {
      const deadline = Date.now() + REACH_MS;
      for (;;) {
        const reached = await tally();
        if (reached.count >= count) return reached;
        if (Date.now() > deadline) throw new Error(`${reached.count} of ${count} requests came`);
        await pause(POLL_MS);
      }
    },
    arrivals: async () => (await ask<Row[]>('arrivals')).map(([n, id, attempt, atMs]) => ({ n, id, attempt, atMs })),
    forget: () => ask('forget'),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function serve(): Promise<void> {
  let rows: Row[] = [];
  const server = createServer((request, response) => {
    const atMs = sharedNowMs();
    const [, manner, n] = (request.url as string).split('/');
    const attempt = Number(request.headers['errand-attempt'] ?? 1);
    request.resume();
    if (manner === 'dead') return;
    rows.push([Number(n), String(request.headers['webhook-id']), attempt, atMs]);
    const status = manner === 'flaky' && attempt === 1 ? 500 : 200;
    request.on('end', () => response.writeHead(status, ['content-length', '0']).end());
  });
  // On every address, for those of loopback; nobody else is answered.
  server.on('connection', (socket) => {
    if (!/^(::ffff:)?127\./.test(socket.remoteAddress ?? '')) socket.destroy();
  });
  server.listen(0, '0.0.0.0', 4096);
  await once(server, 'listening');
  process.on('disconnect', () => process.exit(0));
  process.on('message', (what) => {
    if (what === 'forget') rows = [];
    if (what === 'arrivals') process.send?.(rows);
    else process.send?.({ count: rows.length, firstAtMs: rows[0]?.[3] ?? 0, lastAtMs: rows.at(-1)?.[3] ?? 0 });
  });
  process.send?.((server.address() as AddressInfo).port);
}

if (import.meta.main) await serve();
