// What a workflow with a long queue costs another one's single runs: from a POST to what the run answers, on an idle
// server, and while the runs of the flood are being worked off.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { readConfig } from '../../src/server/config.ts';
import { openStore } from '../../src/server/open-store.ts';
import { clock, random } from '../../src/server/real-ports.ts';
import type { FreeSlots } from '../../src/store/contract/store.ts';
import { BODY } from '../kit/load.ts';
import { API_KEY, type Bench, type Env, SECRET_KEY, startBench } from '../kit/server.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';
import { eventOf } from '../stores/store-work.ts';

/** What the runs of the flood do. */
export const FLOODS = {
  trivial: 'export default () => 1;',
  waits: 'export default () => new Promise((resolve) => setTimeout(resolve, 5));',
  busy: 'export default () => { const until = performance.now() + 5; while (performance.now() < until); };',
} as const;

export interface FloodOptions {
  readonly kind: keyof typeof FLOODS;
  readonly queued: number;
  readonly concurrency: number;
  readonly requests: number;
  readonly env?: Env;
}

export interface Waits {
  readonly wall: Spread;
  /** What the server's main thread used of the CPU meanwhile: what other programs of the machine do is not in it. */
  readonly cpu: Spread;
}

export interface Fairness {
  readonly idle: Waits;
  readonly flooded: Waits;
  /** Runs of the flood that were open when the last answer had come; none, and the figures are of an idle server. */
  readonly left: number;
}

const ANSWERS = 'export default async ({ $ }) => { await $.respond({ status: 200, body: "done" }); };';
const WARM_UPS = 20;
const PAUSE_MS = 5;
const AT_ONCE = 500;
const NO_HANDS: FreeSlots = {
  takeRun: () => false,
  dropRun: () => {},
  takeDelivery: () => false,
  dropDelivery: () => {},
};
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export async function fairness({ kind, queued, concurrency, requests, env = {} }: FloodOptions): Promise<Fairness> {
  const dir = await mkdtemp(join(tmpdir(), 'errand-fair-'));
  try {
    const flow = await (async () => {
      await using bench = await startBench(dir, env);
      const flood = await bench.workflow(FLOODS[kind], { concurrency });
      const single = await singleOf(bench);
      return {
        ownerId: (await bench.client.get('/v1/users/me')).data.id,
        workflowId: flood.id,
        triggerId: flood.hi,
        single,
      };
    })();
    const idle = await (async () => {
      await using bench = await startBench(dir, env);
      return await answers(bench, flow.single, requests);
    })();
    await queue(dir, env, { ...flow, queued });
    await using bench = await startBench(dir, env);
    const flooded = await answers(bench, flow.single, requests);
    const { runs } = await bench.ledger();
    bench.process.child.kill('SIGKILL');
    return { idle, flooded, left: runs.queued + runs.running };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function singleOf(bench: Bench): Promise<string> {
  const { triggers } = await bench.client.post('/v1/workflows', {
    name: 'single',
    steps: [{ namespace: 'step', code: ANSWERS }],
    triggers: [{ type: 'http', custom_response: true }],
  });
  return new URL(triggers[0].endpoint_url).pathname;
}

/** One after the other, once its process is there. */
async function answers({ process: { url, child } }: Bench, path: string, requests: number): Promise<Waits> {
  const pool = new Pool(url, { connections: 1 });
  const [took, used]: [number[], number[]] = [[], []];
  for (let n = -WARM_UPS; n < requests; n++) {
    const [cpu, before] = [await cpuMs(child.pid as number), performance.now()];
    const { body, statusCode } = await pool.request({ path, method: 'POST', body: BODY });
    await body.text();
    if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
    const now = performance.now();
    if (n >= 0) {
      took.push(now - before);
      used.push((await cpuMs(child.pid as number)) - cpu);
    }
    await pause(PAUSE_MS);
  }
  await pool.destroy();
  return { wall: spreadOf(took), cpu: spreadOf(used) };
}

/** Of the main thread alone. */
async function cpuMs(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e6;
}

interface Queued {
  readonly ownerId: string;
  readonly workflowId: string;
  readonly triggerId: string;
  readonly queued: number;
}

/** Straight into a store that no server uses. */
async function queue(dir: string, env: Env, { queued, ...flow }: Queued): Promise<void> {
  const settings = { ERRAND_DATA_DIR: dir, ERRAND_API_KEY: API_KEY, ERRAND_SECRET_KEY: SECRET_KEY, ...env };
  const store = await openStore(readConfig(settings), { clock, random, log: silent });
  for (let done = 0; done < queued; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => store.append(eventOf(flow), NO_HANDS)));
  }
  await store.close();
}
