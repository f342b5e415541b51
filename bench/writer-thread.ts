// Should SQLite's writer live in a worker thread? The same HTTP server with the same real store, once with the store in the
// main thread and once behind a worker, under the same load: `node bench/writer-thread.ts [--rounds N] [--seconds N]`.
//
// The server answers a POST when its event is durable and ends the run after that, so that each request costs two verbs.
// Both sides of the worker gather what one turn of the event loop brings into one message. What the worker gives back is
// what the main thread does not know already (numbers, no bodies), which is the best that an arrangement with a worker
// could do; the real one would also have to ask it for free hands, and hand it every routing change.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { isMainThread, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import type { ClaimedRun } from '../src/domain/run/run.ts';
import type { RunEnd } from '../src/domain/run/run-end.ts';
import { clock, random } from '../src/server/real-ports.ts';
import type { Store } from '../src/store/contract/store.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { load } from './load.ts';
import { median } from './stats.ts';
import { eventOf, type Flow, FREE_HANDS, layFlow, succeededEnd } from './store-work.ts';

const ARRANGEMENTS = ['in-thread', 'worker'] as const;
type Arrangement = (typeof ARRANGEMENTS)[number];

/** An event's two verbs, wherever the store lives. */
interface Writer {
  readonly flow: Flow;
  append(body: Uint8Array): Promise<Accepted>;
  finish(end: RunEnd): Promise<void>;
}

type Accepted = Pick<ClaimedRun, 'run' | 'fence'> & { readonly emitId: string };

async function openAt(dir: string): Promise<Store> {
  return openSqliteStore({ path: join(dir, 'errand.db'), clock, random });
}

async function appendTo(store: Store, flow: Flow, body: Uint8Array): Promise<Accepted> {
  const { emitId, claims } = await store.append(eventOf(flow, body), FREE_HANDS);
  const { run, fence } = claims.runs[0] as ClaimedRun;
  return { emitId, run, fence };
}

async function inThread(dir: string): Promise<Writer> {
  const store = await openAt(dir);
  const flow = await layFlow(store);
  return {
    flow,
    append: (body) => appendTo(store, flow, body),
    finish: async (end) => void (await store.finishRun(end, FREE_HANDS)),
  };
}

type Asked =
  | readonly [id: number, verb: 'append', body: Uint8Array]
  | readonly [id: number, verb: 'finish', end: RunEnd];
type Told = readonly [id: number, value: Accepted | null];

/** Gathers until the end of the turn. */
function gathering<T>(send: (batch: readonly T[]) => void): (item: T) => void {
  let batch: T[] = [];
  return (item) => {
    if (batch.length === 0) {
      setImmediate(() => {
        const whole = batch;
        batch = [];
        send(whole);
      });
    }
    batch.push(item);
  };
}

async function behindWorker(dir: string): Promise<Writer> {
  const worker = new Worker(import.meta.filename, { workerData: dir });
  const [flow] = (await once(worker, 'message')) as [Flow];
  const waiting = new Map<number, (value: Accepted | null) => void>();
  let next = 0;
  worker.on('message', (told: readonly Told[]) => {
    for (const [id, value] of told) {
      waiting.get(id)?.(value);
      waiting.delete(id);
    }
  });
  const ask = gathering<Asked>((batch) => worker.postMessage(batch));
  const asked = (make: (id: number) => Asked): Promise<Accepted | null> =>
    new Promise((resolve) => {
      const id = next++;
      waiting.set(id, resolve);
      ask(make(id));
    });
  return {
    flow,
    append: async (body) => (await asked((id) => [id, 'append', body])) as Accepted,
    finish: async (end) => void (await asked((id) => [id, 'finish', end])),
  };
}

async function serveWorker(port: MessagePort): Promise<void> {
  const store = await openAt(workerData);
  const flow = await layFlow(store);
  const tell = gathering<Told>((batch) => port.postMessage(batch));
  port.on('message', (batch: readonly Asked[]) => {
    for (const [id, verb, given] of batch) {
      const done =
        verb === 'append' ? appendTo(store, flow, given) : store.finishRun(given, FREE_HANDS).then(() => null);
      done.then((value) => tell([id, value]));
    }
  });
  port.postMessage(flow);
}

async function serve(arrangement: Arrangement): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-writer-'));
  const writer = arrangement === 'worker' ? await behindWorker(dir) : await inThread(dir);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  let finished = 0;
  const accept = async (request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> => {
    JSON.parse(body.toString());
    const head = `{"method":"POST","url":${JSON.stringify(request.url)},"headers":${JSON.stringify(request.headers)},"body":`;
    const event = Buffer.concat([Buffer.from(head), body, Buffer.from('}')]);
    const { emitId, run, fence } = await writer.append(event);
    response.writeHead(200, ['content-type', 'application/json']).end(`{"id":"${emitId}"}`);
    await writer.finish(succeededEnd({ run, fence, runnable: { id: writer.flow.workflowId } } as ClaimedRun));
    finished++;
  };
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify({ finished, delayP99Ms: delay.percentile(99) / 1e6 }));
      delay.reset();
      return;
    }
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => void accept(request, response, Buffer.concat(parts)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  delay.enable();
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  process.on('SIGTERM', () => rm(dir, { recursive: true, force: true }).then(() => process.exit(0)));
}

interface Measured {
  readonly finishedPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly delayP99Ms: number;
}

async function measure(arrangement: Arrangement, seconds: number): Promise<Measured> {
  const child = spawn(process.execPath, [import.meta.filename, 'serve', arrangement], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${String(port).trim()}/e/x`;
  const state = async () => (await fetch(url)).json() as Promise<{ finished: number; delayP99Ms: number }>;
  await load(url, 2);
  const before = await state();
  const started = performance.now();
  const { p50Ms, p99Ms } = await load(url, seconds);
  const after = await state();
  const finishedPerSecond = ((after.finished - before.finished) / (performance.now() - started)) * 1000;
  child.kill('SIGTERM');
  await once(child, 'exit');
  return { finishedPerSecond, p50Ms, p99Ms, delayP99Ms: after.delayP99Ms };
}

async function compare(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '3' }, seconds: { type: 'string', default: '5' } },
  });
  const results = new Map<Arrangement, Measured[]>(ARRANGEMENTS.map((arrangement) => [arrangement, []]));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const arrangement of ARRANGEMENTS) {
      results.get(arrangement)?.push(await measure(arrangement, Number(values.seconds)));
    }
  }
  for (const [arrangement, all] of results) {
    const of = (read: (one: Measured) => number): number => median(all.map(read));
    const rounds = all.map((one) => Math.round(one.finishedPerSecond)).join(', ');
    process.stdout.write(
      `${arrangement.padEnd(10)} ${Math.round(of((m) => m.finishedPerSecond))} events/s accepted and finished (rounds: ${rounds}), ` +
        `answer p50 ${of((m) => m.p50Ms).toFixed(1)} ms p99 ${of((m) => m.p99Ms).toFixed(1)} ms, ` +
        `event loop delay p99 ${of((m) => m.delayP99Ms).toFixed(1)} ms\n`,
    );
  }
}

if (!isMainThread) await serveWorker(parentPort as MessagePort);
else if (process.argv[2] === 'serve') await serve(process.argv[3] as Arrangement);
else if (import.meta.main) await compare();
