// Loads that flood the server, and how fast it gets through with all of it.

import { setTimeout as pause } from 'node:timers/promises';
import { CONNECTIONS, type Loaded, load } from '../kit/load.ts';
import { type Receiver, sharedNowMs, startReceiver } from '../kit/receiver.ts';
import { type Bench, childrenOf, cpuSecondsOf, type Env, startBench } from '../kit/server.ts';
import { startYardstick } from '../kit/yardstick.ts';

export interface Flood extends Loaded {
  /** Events that are over, by the time from the first request until the last of them was. */
  readonly finishedPerSecond: number;
  /** What was left to do when the load ended. */
  readonly backlog: number;
  /** CPU time of the server and of its children for one event, in microseconds. */
  readonly serverCpuUs: number;
  readonly childCpuUs: number;
}

export interface Times {
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

export async function yardstick(kind: 'http' | 'fastify', { warmUpSeconds, seconds }: Times): Promise<Loaded> {
  await using server = await startYardstick(kind);
  await load(server.url, warmUpSeconds);
  return await load(server.url, seconds);
}

const RETURNS = 'export default () => 1;';
const NEVER_DONE = 'export default () => new Promise(() => {});';
const THROWS = 'export default ({ steps }) => { throw new Error("order " + steps.trigger.event.body.order); };';
const FORWARDS = 'export default ({ steps, $ }) => { $.send.emit(steps.trigger.event); };';

/** Starts counting CPU time; the answer tells it per event. */
async function cpuMeter(bench: Bench): Promise<(events: number) => Promise<Pick<Flood, 'serverCpuUs' | 'childCpuUs'>>> {
  const pid = bench.process.child.pid as number;
  const used = async (): Promise<[number, number]> => {
    const children = await Promise.all((await childrenOf(pid)).map(cpuSecondsOf));
    return [await cpuSecondsOf(pid), children.reduce((sum, seconds) => sum + seconds, 0)];
  };
  const [server, child] = await used();
  return async (events) => {
    const [serverAfter, childAfter] = await used();
    return { serverCpuUs: ((serverAfter - server) / events) * 1e6, childCpuUs: ((childAfter - child) / events) * 1e6 };
  };
}

/** Accept alone: each event is written with a queued run, and no run is executed but one that never ends. */
export async function acceptAlone(times: Times, env?: Env): Promise<Loaded> {
  await using bench = await startBench(undefined, env);
  const { endpoint } = await bench.workflow(NEVER_DONE, { concurrency: 1, timeout_ms: 60_000 });
  await load(endpoint, times.warmUpSeconds);
  const loaded = await load(endpoint, times.seconds);
  bench.process.child.kill('SIGKILL');
  return loaded;
}

/** Accept, run, finish: as many runs at once as `concurrency` says. */
export async function acceptAndRun(
  times: Times,
  concurrency: number,
  { code = RETURNS, env }: { readonly code?: string; readonly env?: Env } = {},
): Promise<Flood> {
  await using bench = await startBench(undefined, env);
  const { endpoint } = await bench.workflow(code, { concurrency });
  await load(endpoint, times.warmUpSeconds);
  const before = (await bench.settled()).runs.succeeded;
  const cpu = await cpuMeter(bench);
  const startedMs = performance.now();
  const loaded = await load(endpoint, times.seconds);
  const after = (await bench.ledger()).runs;
  const { runs } = await bench.settled();
  const finished = runs.succeeded - before;
  const finishedPerSecond = (finished / (performance.now() - startedMs)) * 1000;
  return { ...loaded, finishedPerSecond, backlog: after.queued + after.running, ...(await cpu(finished)) };
}

const ANSWERS = 'export default async ({ $ }) => { await $.respond({ status: 200, body: "done" }); };';

/** Accept, run, and answer what the run says: each request waits for its run. */
export async function acceptAndAnswer(times: Times, concurrency: number): Promise<Flood> {
  await using bench = await startBench();
  const { endpoint } = await bench.workflow(ANSWERS, { concurrency }, { custom_response: true });
  await load(endpoint, times.warmUpSeconds);
  await bench.settled();
  const cpu = await cpuMeter(bench);
  const loaded = await load(endpoint, times.seconds);
  return { ...loaded, finishedPerSecond: loaded.perSecond, backlog: 0, ...(await cpu(loaded.requests)) };
}

export interface ChainOptions {
  /** Whether the owner's global error workflow hears of it, as it does unless told otherwise. */
  readonly notify: boolean;
  /** The webhook hears the error itself, beside the forwarded run, and not what that run emits. */
  readonly direct?: boolean;
  readonly env?: Env;
}

/** Throw → `$errors` → a workflow hears of it and emits → a webhook gets that. */
export async function errorChain(times: Times, { notify, direct = false, env }: ChainOptions): Promise<Flood> {
  await using receiver = await startReceiver();
  await using bench = await startBench(undefined, env);
  const failing = await bench.workflow(THROWS, { concurrency: 100, notify });
  const forwarding = await bench.workflow(direct ? RETURNS : FORWARDS, { concurrency: 100 });
  const webhook = await bench.webhook(receiver.url);
  await bench.subscribe(failing.id, forwarding.id, '$errors');
  if (direct) await bench.subscribe(failing.id, webhook, '$errors');
  else await bench.subscribe(forwarding.id, webhook);
  await load(failing.endpoint, times.warmUpSeconds);
  await bench.settled();
  const before = await receiver.arrivals();
  const cpu = await cpuMeter(bench);
  const startedMs = sharedNowMs();
  const loaded = await load(failing.endpoint, times.seconds);
  const backlog = loaded.requests - ((await receiver.arrivals()).count - before.count);
  const after = await arrived(receiver, bench);
  const chains = after.count - before.count;
  const finishedPerSecond = (chains / (after.lastAtMs - startedMs)) * 1000;
  return { ...loaded, backlog, finishedPerSecond, ...(await cpu(chains)) };
}

async function arrived(receiver: Receiver, bench: Bench): Promise<{ count: number; lastAtMs: number }> {
  await bench.settled();
  await pause(50);
  return receiver.arrivals();
}

export const LOAD_ABOUT = `POST of 1 KB, ${CONNECTIONS} connections`;
