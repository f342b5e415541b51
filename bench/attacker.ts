// What one owner's code and calls cost another owner's single runs: from a POST to what the run answers, on a server that
// does nothing else, and while the attacker does its worst. One after the other, each on a server of its own.

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { createClient, type Json } from '../test/support/client.ts';
import { BODY, load } from './load.ts';
import { type Bench, startBench } from './server.ts';
import { type Spread, spreadOf } from './stats.ts';

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

export interface Attacked {
  readonly name: string;
  readonly spread: Spread;
}

const WARM_UPS = 30;
const PAUSE_MS = 5;
const MEASURED_MS = 3000;
/** Until the attack is under way. */
const BEGINS_MS = 700;

/** First the idle server. */
export async function* attacked(): AsyncGenerator<Attacked> {
  yield await one('idle', []);
  for (const name of Object.keys(ATTACKS)) yield await one(name, [name]);
  yield await one('all at once', Object.keys(ATTACKS));
}

async function one(name: string, attacks: readonly string[]): Promise<Attacked> {
  await using bench = await startBench();
  const victim = await endpointOf(bench.client, ANSWERS);
  const attacker = createClient(
    bench.process.url,
    (await bench.client.post('/v1/owners', { name: 'attacker' })).api_key,
  );
  const attackers: { name: string; url: string }[] = [];
  for (const attack of attacks) {
    const { count, code } = ATTACKS[attack] as (typeof ATTACKS)[string];
    for (let n = 0; n < count; n++) attackers.push({ name: attack, url: await endpointOf(attacker, code) });
  }
  const pool = new Pool(bench.process.url, { connections: 1 });
  const path = new URL(victim).pathname;
  for (let n = 0; n < WARM_UPS; n++) await answer(pool, path);
  const going = new AbortController();
  const under = attackers.map(({ name: kind, url }) => attack(kind, url, going.signal));
  if (under.length > 0) await pause(BEGINS_MS);
  const took: number[] = [];
  for (const until = performance.now() + MEASURED_MS; performance.now() < until; await pause(PAUSE_MS)) {
    took.push(await answer(pool, path));
  }
  going.abort();
  bench.process.child.kill('SIGKILL');
  await Promise.all([pool.destroy(), ...under]);
  return { name, spread: spreadOf(took) };
}

/** `huge emissions` go on: each is called again when it was taken. */
async function attack(name: string, url: string, signal: AbortSignal): Promise<void> {
  if (name === '10,000 requests') {
    await load(url, (BEGINS_MS + MEASURED_MS) / 1000).catch(() => undefined);
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
