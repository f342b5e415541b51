// What one owner's code and calls cost another owner's single runs: from a POST to what the run answers, on a server that
// does nothing else, and then while the attacker does its worst. Each attack has a server of its own.

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { createClient, type Json } from '../../test/support/client.ts';
import { BODY, load } from '../kit/load.ts';
import { type Bench, childrenOf, startBench } from '../kit/server.ts';
import { between, type SchedCounts, SchedWatch } from './sched-delay.ts';

const ANSWERS = 'export default async ({ $ }) => { await $.respond({ status: 200, body: "done" }); };';

/** What the attacker's workflows do; each of so many of them is called once. */
const ATTACKS: Readonly<Record<string, { readonly count: number; readonly code: string }>> = {
  'sleeping runs': { count: 24, code: 'export default () => new Promise((resolve) => setTimeout(resolve, 25_000));' },
  'CPU loops': { count: 24, code: 'export default () => { for (;;); };' },
  'memory hogs': {
    count: 12,
    code: 'export default () => { const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1)); };',
  },
  'fork attempts': {
    count: 12,
    code: `export default async () => {
      for (;;) {
        try { process.getBuiltinModule('node:child_process').spawn('/bin/true').on('error', () => {}); } catch {}
        await new Promise(setImmediate);
      }
    };`,
  },
  'log floods': {
    count: 12,
    code: `export default async () => {
      for (;;) { console.log('x'.repeat(100_000)); await new Promise(setImmediate); }
    };`,
  },
  'huge emissions': {
    count: 12,
    code: `export default async ({ $ }) => {
      for (let n = 0; n < 5; n++) await $.send.emit({ raw_event: { pad: 'x'.repeat(1_000_000) } });
    };`,
  },
  '10,000 requests': { count: 1, code: 'export default () => 1;' },
};

/** Each attack alone, and all of them together. */
export const CASES: readonly string[] = [...Object.keys(ATTACKS), 'all at once'];

export interface Sample {
  readonly tookMs: number;
  readonly sched: SchedCounts;
}

/** Of one server: before the attack, and while it goes on. */
export interface Attacked {
  readonly idle: readonly Sample[];
  readonly attacked: readonly Sample[];
}

const WARM_UPS = 30;
const PAUSE_MS = 5;
/** Until the attack is under way. */
const BEGINS_MS = 700;
const AHEAD_MS = 500;

/** Measures one of CASES for so many seconds, and the idle server for half as long before it. */
export async function attacked(name: string, seconds: number): Promise<Attacked> {
  const attacks = name === 'all at once' ? Object.keys(ATTACKS) : [name];
  await using bench = await startBench();
  const pool = new Pool(bench.process.url, { connections: 1 });
  const path = new URL(await endpointOf(bench.client, ANSWERS)).pathname;
  for (let n = 0; n < WARM_UPS; n++) await answer(pool, path);
  const server = bench.process.child.pid as number;
  const [child = server] = await childrenOf(server);
  const attacker = createClient(
    bench.process.url,
    (await bench.client.post('/v1/owners', { name: 'attacker' })).api_key,
  );
  const attackers: { name: string; url: string }[] = [];
  for (const attack of attacks) {
    const { count, code } = ATTACKS[attack] as (typeof ATTACKS)[string];
    for (let n = 0; n < count; n++) attackers.push({ name: attack, url: await endpointOf(attacker, code) });
  }
  await startedAhead(server);
  using watch = new SchedWatch({ server, child });
  const idle = await samples(pool, path, { seconds: seconds / 2, watch });
  const going = new AbortController();
  const under = attackers.map(({ name: kind, url }) => attack(kind, url, { seconds, signal: going.signal }));
  await pause(BEGINS_MS);
  const taken = await samples(pool, path, { seconds, watch });
  going.abort();
  bench.process.child.kill('SIGKILL');
  await Promise.all([pool.destroy(), ...under]);
  return { idle, attacked: taken };
}

async function samples(
  pool: Pool,
  path: string,
  { seconds, watch }: { readonly seconds: number; readonly watch: SchedWatch },
): Promise<Sample[]> {
  const taken: Sample[] = [];
  for (const until = performance.now() + seconds * 1000; performance.now() < until; await pause(PAUSE_MS)) {
    const before = watch.counts();
    const tookMs = await answer(pool, path);
    taken.push({ tookMs, sched: between(before, watch.counts()) });
  }
  return taken;
}

/** Waits until the processes are there that are started ahead of their first run. */
async function startedAhead(server: number): Promise<void> {
  for (let count = -1; ; await pause(AHEAD_MS)) {
    const before = count;
    count = (await childrenOf(server)).length;
    if (count === before) return;
  }
}

/** `huge emissions` go on: each is called again when it was taken. */
async function attack(
  name: string,
  url: string,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<void> {
  if (name === '10,000 requests') {
    await load(url, BEGINS_MS / 1000 + seconds).catch(() => undefined);
    return;
  }
  do {
    await fetch(url, { method: 'POST', body: BODY, signal })
      .then((it) => it.text())
      .catch(() => undefined);
    await pause(500);
  } while (name === 'huge emissions' && !signal.aborted);
}

async function answer(pool: Pool, path: string): Promise<number> {
  const before = performance.now();
  const { body, statusCode } = await pool.request({ path, method: 'POST', body: BODY });
  await body.text();
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
  return performance.now() - before;
}

async function endpointOf(client: Bench['client'], code: string): Promise<string> {
  const made: Json = await client.post('/v1/workflows', {
    name: 'attack',
    steps: [{ namespace: 'step', code }],
    triggers: [{ type: 'http', custom_response: code === ANSWERS }],
    settings: { timeout_ms: 30_000, memory_mb: 256, notify: false },
  });
  return made.triggers[0].endpoint_url;
}
