// How late retries are after a restart. First attempts fail; the server stops while their retries become due, and starts.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Crowd, startCrowd } from '../kit/crowd.ts';
import { BODY } from '../kit/load.ts';
import { sharedNowMs } from '../kit/receiver.ts';
import { type Bench, type Env, startBench } from '../kit/server.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';

export interface Late {
  /** Of retries that became due while it was down: from the first answer of `/readyz` to the arrival. */
  readonly dueBefore: Spread;
  /** Of those that became due afterwards: from when they were due. */
  readonly dueAfter: Spread;
  /** Of all of them. */
  readonly worstMs: number;
}

export interface LateOptions {
  readonly webhooks: number;
  readonly events: number;
  /** SIGTERM: it stops in order. SIGKILL: it is gone. */
  readonly signal: 'SIGTERM' | 'SIGKILL';
  readonly env?: Env;
}

/**
 * The first delay of the schedule is 5 s, give or take 10 %. So the events of the last seconds before the end have retries
 * that become due within the five seconds behind it, while the server is down and when it is there again.
 */
const EVENTS_MS = 8000;
const DOWN_MS = 500;

export async function latenessAfter({ webhooks, events, signal, env }: LateOptions): Promise<Late> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-late-'));
  await using crowd = await startCrowd();
  try {
    const dueAtMs = await failAndStop({ dir, crowd, webhooks, events, signal, env });
    await crowd.forget();
    await pause(DOWN_MS);
    await using _bench = await startBench(dir, env);
    const readyAtMs = Date.now();
    await crowd.reached(dueAtMs.size);
    return judged(dueAtMs, await crowd.arrivals(), readyAtMs);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

interface Failing extends LateOptions {
  readonly dir: string;
  readonly crowd: Crowd;
}

/** When the retries are due that are left to do, by receiver and event. */
async function failAndStop({ dir, crowd, webhooks, events, signal, env }: Failing): Promise<Map<string, number>> {
  await using bench = await startBench(dir, env);
  const workflow = await bench.workflow('export default () => 1;');
  const ids: string[] = [];
  for (let n = 0; n < webhooks; n++) {
    ids.push(await bench.webhook(crowd.url(n, 'flaky')));
    await bench.subscribe(workflow.hi, ids[n] as string);
  }
  const headers = { 'content-type': 'application/json' };
  for (let n = 0; n < events; n++) {
    await fetch(workflow.endpoint, { method: 'POST', headers, body: BODY }).then((answer) => answer.arrayBuffer());
    await pause(EVENTS_MS / events);
  }
  await bench.settled();
  const listed = await retrying(bench, ids);
  bench.process.child.kill(signal);
  await bench.process.exited;
  // Some were attempted between the listing and the end.
  const done = new Set((await crowd.arrivals()).filter(({ attempt }) => attempt > 1).map(({ n, id }) => `${n} ${id}`));
  return new Map([...listed].filter(([key]) => !done.has(key)));
}

async function retrying(bench: Bench, ids: readonly string[]): Promise<Map<string, number>> {
  const dueAtMs = new Map<string, number>();
  const list = async (id: string, n: number): Promise<void> => {
    const { data } = await bench.client.get(`/v1/webhooks/${id}/deliveries?state=retrying&limit=100`);
    for (const delivery of data) dueAtMs.set(`${n} ${delivery.emission_id}`, delivery.next_attempt_at_ms);
  };
  await Promise.all(ids.map(list));
  return dueAtMs;
}

function judged(dueAtMs: ReadonlyMap<string, number>, arrivals: Awaited<ReturnType<Crowd['arrivals']>>, ready: number) {
  const wallMs = Date.now() - sharedNowMs();
  const [before, after]: [number[], number[]] = [[], []];
  for (const { n, id, atMs } of arrivals) {
    const due = dueAtMs.get(`${n} ${id}`);
    if (due === undefined) continue;
    (due < ready ? before : after).push(Math.max(0, atMs + wallMs - Math.max(due, ready)));
  }
  return { dueBefore: spreadOf(before), dueAfter: spreadOf(after), worstMs: Math.max(...before, ...after) };
}
