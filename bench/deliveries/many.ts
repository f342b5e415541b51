// Many webhooks: how long they take to hear something, and what memory the server needs for it.

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Crowd, startCrowd } from '../kit/crowd.ts';
import { BODY } from '../kit/load.ts';
import { sharedNowMs } from '../kit/receiver.ts';
import { type Bench, type Env, memoryOf, peakMemoryMb, startBench, startPeak } from '../kit/server.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';

export interface Drained {
  /** From the first POST to the last arrival. */
  readonly drainMs: number;
  readonly perSecond: number;
  /** Resident, before, at the most meanwhile, and a while later. */
  readonly beforeMb: number;
  readonly peakMb: number;
  readonly afterMb: number;
}

export interface FannedOut extends Drained {
  /** Of the POST of an event that all of them hear. */
  readonly accept: Spread;
  /** Of one that a single webhook hears, on the same server. */
  readonly acceptOne: Spread;
}

/** Makes webhooks at one receiver each; `subscribe` says what the nth hears. */
async function webhooksAt(
  { crowd, bench }: { readonly crowd: Crowd; readonly bench: Bench },
  count: number,
  subscribe: (n: number, webhookId: string) => Promise<void>,
): Promise<void> {
  let next = 0;
  const make = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await subscribe(n, await bench.webhook(crowd.url(n)));
  };
  await Promise.all(Array.from({ length: MAKERS }, make));
}

const MAKERS = 16;
const PER_RUN = 1000;
const LATER_MS = 8000;

/** One event for each, on a channel that nobody else hears. A run may emit 10,000 at once; these come in thousands. */
const EMITS = `export default ({ steps, $ }) => {
  const { from, to, event } = steps.trigger.event.body;
  for (let n = from; n < to; n++) $.send.emit({ n, ...event }, 'n' + n);
};`;

export async function oneEventEach(webhooks: number, env?: Env): Promise<Drained> {
  await using crowd = await startCrowd();
  await using bench = await startBench(undefined, env);
  const workflow = await bench.workflow(EMITS);
  await webhooksAt({ crowd, bench }, webhooks, (n, id) => bench.subscribe(workflow.id, id, `n${n}`));
  return await measured({ crowd, bench, expected: webhooks }, async () => {
    const runs = Array.from({ length: Math.ceil(webhooks / PER_RUN) }, (_, i) => i * PER_RUN);
    const event = JSON.parse(BODY);
    await Promise.all(
      runs.map((from) => post(workflow.endpoint, { from, to: Math.min(from + PER_RUN, webhooks), event })),
    );
  });
}

/** One emitter that all webhooks hear, one event after the other. */
export async function fanOut(webhooks: number, events: number, env?: Env): Promise<FannedOut> {
  await using crowd = await startCrowd();
  await using bench = await startBench(undefined, env);
  const [all, one] = [await bench.workflow('export default () => 1;'), await bench.workflow('export default () => 1;')];
  await webhooksAt({ crowd, bench }, webhooks, (_, id) => bench.subscribe(all.hi, id));
  await bench.subscribe(one.hi, await bench.webhook(crowd.url(0)));
  const acceptOne = await accepts(one.endpoint, 50, () => pause(5));
  await bench.settled();
  let posted = 0;
  const took: Spread[] = [];
  const drained = await measured({ crowd, bench, expected: webhooks * events }, async () => {
    took.push(await accepts(all.endpoint, events, () => crowd.reached(webhooks * ++posted)));
  });
  return { ...drained, accept: took[0] as Spread, acceptOne };
}

interface Place {
  readonly crowd: Crowd;
  readonly bench: Bench;
  readonly expected: number;
}

async function measured({ crowd, bench, expected }: Place, act: () => Promise<void>): Promise<Drained> {
  const pid = bench.process.child.pid as number;
  await bench.settled();
  await pause(LATER_MS);
  const { rssMb: beforeMb } = await memoryOf(pid);
  await startPeak(pid);
  await crowd.forget();
  const startedMs = sharedNowMs();
  await act();
  const { lastAtMs } = await crowd.reached(expected);
  await bench.settled();
  const peakMb = await peakMemoryMb(pid);
  await pause(LATER_MS);
  const { rssMb: afterMb } = await memoryOf(pid);
  const drainMs = lastAtMs - startedMs;
  return { drainMs, perSecond: (expected / drainMs) * 1000, beforeMb, peakMb, afterMb };
}

async function post(endpoint: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(body) });
  if (answer.status !== 200) throw new Error(`${endpoint} answered ${answer.status}`);
}

/** POSTs, one at a time; `between` is not part of the time. */
async function accepts(endpoint: string, events: number, between: () => Promise<unknown>): Promise<Spread> {
  const { origin, pathname: path } = new URL(endpoint);
  const pool = new Pool(origin, { connections: 1 });
  const headers = { 'content-type': 'application/json' };
  const took: number[] = [];
  for (let n = 0; n < events; n++) {
    const before = performance.now();
    const answer = await pool.request({ path, method: 'POST', headers, body: BODY });
    await answer.body.dump();
    took.push(performance.now() - before);
    await between();
  }
  await pool.close();
  return spreadOf(took);
}
