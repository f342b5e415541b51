// A storm of errors: what it costs another owner's calls and the server's memory, and whether each error is counted.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { createClient, type Json } from '../../test/support/client.ts';
import { type Bench, type Env, memoryOf, peakMemoryMb, startBench, startPeak } from '../kit/server.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';
import { startYardstick } from '../kit/yardstick.ts';
import { type Flood, flood } from './storm-flood.ts';

/** Where the errors come from: runs of one workflow that throw, or reports of another program. */
export const STORMS = ['thrown', 'reported'] as const;
export type StormKind = (typeof STORMS)[number];

export interface Storm {
  /** Of another owner's calls, before the storm and until the last of its errors was captured. */
  readonly idle: Spread;
  readonly beside: Spread;
  /** Of those, the calls that read, and the events that were sent. */
  readonly reads: { readonly idle: Spread; readonly beside: Spread };
  readonly events: { readonly idle: Spread; readonly beside: Spread };
  /** Of the same client's calls to a server that does nothing, in turn with the others: what the CPU alone costs them. */
  readonly yardstick: { readonly idle: Spread; readonly beside: Spread };
  /** Until the last request of the storm was taken, and until nothing was left to do. */
  readonly takenSeconds: number;
  readonly settledSeconds: number;
  readonly refused: number;
  /** What the ledger has, what the group has, and how many groups there are. */
  readonly captured: number;
  readonly counted: number;
  readonly groups: number;
  readonly mails: number;
  /** Resident: before, at most, and five seconds after the end. */
  readonly memoryMb: { readonly before: number; readonly peak: number; readonly after: number };
}

export interface StormOptions {
  readonly kind: StormKind;
  readonly errors: number;
  /** How long the idle server is measured. */
  readonly seconds: number;
  readonly env?: Env;
}

const WARM_UP_ERRORS = 200;
const PAUSE_MS = 5;
const CALM_MS = 5000;

export async function storm({ kind, errors, seconds, env }: StormOptions): Promise<Storm> {
  await using bench = await startBench(undefined, env);
  const pid = bench.process.child.pid as number;
  const of = await floodOf(bench, kind);
  await using yardstick = await startYardstick('fastify');
  await using other = await otherOwner(bench, yardstick.url);
  await flood({ ...of, count: WARM_UP_ERRORS });
  await bench.settled();
  await other.calls(1);
  const idle = await other.calls(seconds);
  const before = (await memoryOf(pid)).rssMb;
  await startPeak(pid);
  const beganMs = performance.now();
  let settledSeconds = Number.NaN;
  const going = flood({ ...of, count: errors - WARM_UP_ERRORS }).then(async (flooded) => {
    const ledger = await bench.settled();
    settledSeconds = (performance.now() - beganMs) / 1000;
    return { flooded, ledger };
  });
  const [beside, { flooded, ledger }] = await Promise.all([
    other.calls(
      Number.POSITIVE_INFINITY,
      going.then(() => undefined),
    ),
    going,
  ]);
  const peak = await peakMemoryMb(pid);
  await pause(CALM_MS);
  const { data: groups } = await bench.client.get('/v1/error_groups');
  const mails = await readdir(join(bench.dataDir, 'outbox')).catch(() => []);
  return {
    idle: spreadOf(idle.took),
    beside: spreadOf(beside.took),
    reads: { idle: spreadOf(idle.took.filter(isRead)), beside: spreadOf(beside.took.filter(isRead)) },
    events: { idle: spreadOf(idle.took.filter(isEvent)), beside: spreadOf(beside.took.filter(isEvent)) },
    yardstick: { idle: spreadOf(idle.yardstick), beside: spreadOf(beside.yardstick) },
    takenSeconds: flooded.seconds,
    settledSeconds,
    refused: flooded.refused,
    captured: ledger.errors.captured,
    counted: groups.reduce((sum: number, group: Json) => sum + group.count, 0),
    groups: groups.length,
    mails: mails.length,
    memoryMb: { before, peak, after: (await memoryOf(pid)).rssMb },
  };
}

/** The owner keeps the global error workflow: each error starts a run of it, too. */
async function floodOf(bench: Bench, kind: StormKind): Promise<Omit<Flood, 'count'>> {
  const headers = { 'content-type': 'application/json' };
  const workflow = await bench.workflow('export default () => { throw new Error("the storm"); };');
  if (kind === 'thrown') return { url: workflow.endpoint, headers, body: '{"order":#}' };
  const { api_key: key } = await bench.client.post('/v1/keys', { label: 'storm', scopes: ['ingest'] });
  const stack = 'Error: the storm\\n    at charge (/srv/shop/charge.js:41:13)';
  return {
    url: `${bench.process.url}/v1/errors`,
    headers: { ...headers, authorization: `Bearer ${key}` },
    body: `{"workflow_id":"${workflow.id}","message":"the storm of order #","stack":"${stack}","original_event":{"order":1}}`,
  };
}

/** Of three calls of the other owner, the third sends an event. */
const isEvent = (_took: number, index: number): boolean => index % 3 === 2;
const isRead = (took: number, index: number): boolean => !isEvent(took, index);

interface Calls {
  readonly took: number[];
  readonly yardstick: number[];
}

/** Another owner, who lists errors, reads a workflow and sends events, one after the other, each beside a call of the yardstick. */
async function otherOwner(bench: Bench, yardstickUrl: string) {
  const { api_key: key } = await bench.client.post('/v1/owners', { name: 'other' });
  const client = createClient(bench.process.url, key);
  const made = await client.post('/v1/workflows', {
    name: 'quiet',
    steps: [{ namespace: 'step', code: 'export default () => 1;' }],
    triggers: [{ type: 'http' }],
  });
  const pool = new Pool(bench.process.url, { connections: 1 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const requests = [
    { method: 'GET', path: `/v1/workflows/${made.id}` },
    { method: 'GET', path: `/v1/workflows/${made.id}/$errors/event_summaries?expand=event` },
    { method: 'POST', path: new URL(made.triggers[0].endpoint_url).pathname, body: '{"order":1}' },
  ] as const;
  const { origin, pathname } = new URL(yardstickUrl);
  const yardstickPool = new Pool(origin, { connections: 1 });
  const timed = async (to: Pool, request: object): Promise<number> => {
    const before = performance.now();
    const { body, statusCode } = await to.request({ ...request, headers } as never);
    await body.arrayBuffer();
    if (statusCode !== 200) throw new Error(`the other owner was answered ${statusCode}`);
    return performance.now() - before;
  };
  const calls = async (seconds: number, end: Promise<void> = new Promise(() => {})): Promise<Calls> => {
    const [took, yardstick]: [number[], number[]] = [[], []];
    let isOver = false;
    end.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    for (
      const until = performance.now() + seconds * 1000;
      !isOver && performance.now() < until;
      await pause(PAUSE_MS)
    ) {
      took.push(await timed(pool, requests[took.length % requests.length] as object));
      await pause(PAUSE_MS);
      yardstick.push(await timed(yardstickPool, { method: 'POST', path: pathname, body: '{"order":1}' }));
    }
    return { took, yardstick };
  };
  return {
    calls,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([pool.destroy(), yardstickPool.destroy()]);
    },
  };
}
