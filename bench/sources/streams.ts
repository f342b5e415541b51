// Readers of streams: what thousands of them cost while nothing comes, and how late an event arrives.

import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../../test/support/client.ts';
import { API_KEY, type Bench, cpuSecondsOf, type Env, memoryOf, startBench } from '../kit/server.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';

export interface Reading {
  /** Memory of the server for one idle reader. */
  readonly kibPerReader: number;
  /** Part of one core that the server uses while nothing comes, with all readers and without any. */
  readonly idleCpu: number;
  readonly aloneCpu: number;
  /** From the POST of an event to its arrival: at one reader beside the idle ones, and at all of those. */
  readonly one: Spread;
  readonly all: Spread;
}

const SOURCE = `export default { props: { http: '$.interface.http' }, run({ body }) { this.$emit(body); } };`;
const IDLE_MS = 20_000;
const EVENTS = 200;
const EVENTS_TO_ALL = 10;
const BETWEEN_MS = 20;
const OPENED_AT_ONCE = 50;

/** A reader that keeps no more than when something came. */
class Reader {
  readonly #socket: Socket;
  #heard: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => {
      if (chunk.includes('\ndata: ')) this.#heard?.();
    });
  }

  static open(url: string, sourceId: string): Promise<Reader> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(
      `GET /v1/emitters/${sourceId}/events HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`,
    );
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once('data', () => resolve(new Reader(socket)));
    });
  }

  /** When the next event has come. */
  next(): Promise<number> {
    return new Promise((resolve) => {
      this.#heard = () => resolve(performance.now());
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

export async function reading(readers: number, env?: Env): Promise<Reading> {
  await using bench = await startBench(undefined, env);
  const make = (): Promise<Json> => bench.client.post('/v1/sources', { name: 'bench', component_code: SOURCE });
  const [quiet, busy] = [await make(), await make()];
  const one = await Reader.open(bench.process.url, busy.id);
  await arrivals(busy, [one], EVENTS);
  const pid = bench.process.child.pid as number;
  const aloneCpu = await idleCpu(bench);
  const before = await memoryOf(pid);
  const all: Reader[] = [];
  while (all.length < readers) {
    const some = Math.min(OPENED_AT_ONCE, readers - all.length);
    all.push(...(await Promise.all(Array.from({ length: some }, () => Reader.open(bench.process.url, quiet.id)))));
  }
  const idle = await idleCpu(bench);
  const kibPerReader = (((await memoryOf(pid)).ownMb - before.ownMb) * 1024) / readers;
  const atOne = await arrivals(busy, [one], EVENTS);
  const atAll = await arrivals(quiet, all, EVENTS_TO_ALL);
  for (const reader of [one, ...all]) reader.close();
  return { kibPerReader, idleCpu: idle, aloneCpu, one: spreadOf(atOne), all: spreadOf(atAll) };
}

async function idleCpu(bench: Bench): Promise<number> {
  const pid = bench.process.child.pid as number;
  const before = await cpuSecondsOf(pid);
  await pause(IDLE_MS);
  return ((await cpuSecondsOf(pid)) - before) / (IDLE_MS / 1000);
}

async function arrivals(source: Json, readers: readonly Reader[], events: number): Promise<number[]> {
  const delays: number[] = [];
  for (let n = 0; n < events; n++) {
    const heard = readers.map((reader) => reader.next());
    const sentAt = performance.now();
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(source.endpoint_url, { method: 'POST', headers, body: JSON.stringify({ n }) });
    await answer.arrayBuffer();
    for (const at of await Promise.all(heard)) delays.push(at - sentAt);
    await pause(BETWEEN_MS);
  }
  return delays;
}
