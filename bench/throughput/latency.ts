// How long things take when the server is not flooded.

import { setTimeout as pause } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { BODY } from '../kit/load.ts';
import { sharedNowMs, startReceiver } from '../kit/receiver.ts';
import { API_KEY, childrenOf, type Env, memoryOf, startBench } from '../kit/server.ts';
import { median, type Spread, spreadOf } from '../kit/stats.ts';

const HEADERS = { 'content-type': 'application/json' };
const AUTHORIZED = { authorization: `Bearer ${API_KEY}` };
const WARM_UP_EVENTS = 100;

function poolTo(origin: string, connections: number): Pool & AsyncDisposable {
  const pool = new Pool(origin, { connections });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.destroy() });
}

async function postTo(pool: Dispatcher, path: string): Promise<string> {
  const answer = await pool.request({ path, method: 'POST', headers: HEADERS, body: BODY });
  return ((await answer.body.json()) as { id: string }).id;
}

/** From the start of the request to the moment when a caller that lists all the time has the error in hand. */
export async function throwToListed(
  perSecond: number,
  seconds: number,
  env?: Env,
): Promise<Spread & { polls: Spread }> {
  await using bench = await startBench(undefined, env);
  const workflow = await bench.workflow('export default () => { throw new Error("listed"); };', { concurrency: 100 });
  const { origin, pathname } = new URL(workflow.endpoint);
  await using pool = poolTo(origin, 64);
  const list = `/v1/workflows/${workflow.id}/$errors/event_summaries?expand=event&limit=20`;
  const [sentAt, listedAt, polls] = [new Map<string, number>(), new Map<string, number>(), [] as number[]];
  let isDone = false;
  const poll = async (): Promise<void> => {
    while (!isDone) {
      const before = performance.now();
      const { body } = await pool.request({ path: list, method: 'GET', headers: AUTHORIZED });
      const text = await body.text();
      const now = performance.now();
      polls.push(now - before);
      for (const [, id] of text.matchAll(/"original_context":\{"id":"(\w+)"/g)) {
        if (!listedAt.has(id as string)) listedAt.set(id as string, now);
      }
      await pause(1);
    }
  };
  const polling = poll();
  const sending: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let n = 0; n < perSecond * seconds; n++) {
    const dueMs = startedMs + (n * 1000) / perSecond;
    if (dueMs > performance.now()) await pause(dueMs - performance.now());
    const before = performance.now();
    sending.push(postTo(pool, pathname).then((id) => void (n >= WARM_UP_EVENTS && sentAt.set(id, before))));
  }
  await Promise.all(sending);
  await bench.settled();
  await pause(100);
  isDone = true;
  await polling;
  const missed = [...sentAt.keys()].filter((id) => !listedAt.has(id)).length;
  if (missed > 0) process.stderr.write(`${missed} errors left the listed page before they were seen\n`);
  const took = [...sentAt].flatMap(([id, at]) => (listedAt.has(id) ? [(listedAt.get(id) as number) - at] : []));
  return { ...spreadOf(took), polls: spreadOf(polls) };
}

/** From the start of the request to its headers at a webhook's receiver, one event at a time. */
export async function acceptToReceiver(events: number, everyMs: number, env?: Env): Promise<Spread> {
  await using receiver = await startReceiver();
  await using bench = await startBench(undefined, env);
  const workflow = await bench.workflow('export default () => 1;');
  await bench.subscribe(workflow.hi, await bench.webhook(receiver.url));
  const { origin, pathname } = new URL(workflow.endpoint);
  await using pool = poolTo(origin, 1);
  const sentAt = new Map<string, number>();
  for (let n = 0; n < events; n++) {
    const before = sharedNowMs();
    const id = await postTo(pool, pathname);
    if (n >= WARM_UP_EVENTS) sentAt.set(id, before);
    await pause(everyMs);
  }
  const { atMs } = await receiver.arrivals();
  return spreadOf([...sentAt].map(([id, at]) => (atMs[id] as number) - at));
}

/** One GET after the other. */
export async function listing(url: string, path: string, requests: number): Promise<Spread> {
  await using pool = poolTo(url, 1);
  const took: number[] = [];
  for (let n = 0; n < requests; n++) {
    const before = performance.now();
    const answer = await pool.request({ path, method: 'GET', headers: AUTHORIZED });
    await answer.body.arrayBuffer();
    if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
    if (n >= requests / 10) took.push(performance.now() - before);
  }
  return spreadOf(took);
}

export interface Footprint {
  readonly readyMs: number;
  readonly rssMb: number;
  readonly childRssMb: number;
  readonly childOwnMb: number;
}

const IDLE_MS = 2000;

/** On a new store: start to ready, memory when idle, and what a warm child adds. `isPacked`: of what the package has. */
export async function footprint(starts: number, isPacked: boolean): Promise<Footprint> {
  const [readyMs, rssMb, childRssMb, childOwnMb] = [[], [], [], []] as number[][];
  for (let start = 0; start < starts; start++) {
    await using bench = await startBench(undefined, {}, isPacked);
    const pid = bench.process.child.pid as number;
    await pause(IDLE_MS);
    readyMs?.push(bench.readyMs);
    rssMb?.push((await memoryOf(pid)).rssMb);
    const workflow = await bench.workflow('export default () => 1;');
    await fetch(workflow.endpoint, { method: 'POST', headers: HEADERS, body: BODY }).then((a) => a.arrayBuffer());
    await bench.settled();
    await pause(IDLE_MS / 2);
    const [child] = await childrenOf(pid);
    if (child === undefined) throw new Error('there is no warm child');
    const memory = await memoryOf(child);
    childRssMb?.push(memory.rssMb);
    childOwnMb?.push(memory.ownMb);
  }
  const of = (values: number[] | undefined): number => median(values ?? []);
  return { readyMs: of(readyMs), rssMb: of(rssMb), childRssMb: of(childRssMb), childOwnMb: of(childOwnMb) };
}
