// Thousands of timer sources of one component, a tick a minute each: how late they run, and what they cost. The load comes
// over the API; when a tick was due, and when it ran, is read from the store's file.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { type Bench, childrenOf, cpuSecondsOf, memoryOf, peakMemoryMb, startBench, startPeak } from '../kit/server.ts';
import { type Spread, spreadOf } from '../kit/stats.ts';

export interface Ticked {
  /** Of the request that makes one. */
  readonly create: Spread;
  readonly createPerSecond: number;
  readonly storeMb: number;
  /** From when a tick was due to the first line of its run. */
  readonly late: Spread;
  readonly worstMs: number;
  readonly expected: number;
  /** Of one core. */
  readonly serverCpu: number;
  readonly childrenCpu: number;
  readonly serverMb: number;
  /** The most at once, and what they had that they share with nobody, at the most. */
  readonly children: number;
  readonly childrenMb: number;
}

const MINUTE_MS = 60_000;
const MAKERS = 4;
const LOOK_MS = 2000;

const SOURCE = `export default {
  props: { db: '$.service.db', timer: { type: '$.interface.timer', default: { intervalSeconds: 60 } } },
  run() {
    const n = (this.db.get('n') ?? 0) + 1;
    this.db.set('n', n);
    this.$emit({ n, at: Date.now() });
  },
};`;

/** Made over at least a minute, so that their ticks are spread over one; then so many seconds are measured. */
export async function ticking(sources: number, seconds: number): Promise<Ticked> {
  await using bench = await startBench();
  const made = await makeSources(bench, sources);
  await firstRound(made.startedAtMs);
  const file = join(bench.dataDir, 'errand.db');
  const { fromMs, toMs, ...costs } = await costsOf(bench, seconds);
  await bench.settled();
  const dueAtMs = dueTimes(file);
  const late = lateness(file, { dueAtMs, fromMs, toMs });
  const { page_bytes } = pages(file);
  const storeMb = page_bytes / 1024 / 1024;
  const expected = [...dueAtMs.values()].reduce((sum, due) => sum + ticksBetween(due, fromMs, toMs), 0);
  const { create, createPerSecond } = made;
  return { create, createPerSecond, storeMb, ...costs, late: spreadOf(late), worstMs: worst(late), expected };
}

async function makeSources(bench: Bench, count: number) {
  const startedAtMs = Date.now();
  const took: number[] = [];
  let next = 0;
  const make = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      await pause(Math.max(0, startedAtMs + (n / count) * MINUTE_MS - Date.now()));
      const before = performance.now();
      await bench.client.post('/v1/sources', { name: `timer ${n}`, component_code: SOURCE });
      took.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: MAKERS }, make));
  return { startedAtMs, create: spreadOf(took), createPerSecond: (count / (Date.now() - startedAtMs)) * 1000 };
}

/** The ticks of the first minute come while sources are still being made. */
async function firstRound(startedAtMs: number): Promise<void> {
  await pause(Math.max(0, startedAtMs + MINUTE_MS + LOOK_MS - Date.now()));
}

async function costsOf({ process: { child } }: Bench, seconds: number) {
  const pid = child.pid as number;
  await startPeak(pid);
  const before = { server: await cpuSecondsOf(pid), children: await childrenCpuOf(pid) };
  const fromMs = Date.now();
  let [children, childrenMb] = [0, 0];
  while (Date.now() - fromMs < seconds * 1000) {
    await pause(LOOK_MS);
    const pids = await childrenOf(pid);
    const memory = await Promise.all(pids.map((one) => memoryOf(one).catch(() => ({ ownMb: 0 }))));
    children = Math.max(children, pids.length);
    childrenMb = Math.max(
      childrenMb,
      memory.reduce((sum, { ownMb }) => sum + ownMb, 0),
    );
  }
  const toMs = Date.now();
  const took = (toMs - fromMs) / 1000;
  const serverCpu = ((await cpuSecondsOf(pid)) - before.server) / took;
  const childrenCpu = ((await childrenCpuOf(pid)) - before.children) / took;
  return { fromMs, toMs, serverCpu, childrenCpu, serverMb: await peakMemoryMb(pid), children, childrenMb };
}

/** CPU seconds of those that are there, and of those that have ended. */
async function childrenCpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const living = await Promise.all((await childrenOf(pid)).map((one) => cpuSecondsOf(one).catch(() => 0)));
  return (Number(fields[13]) + Number(fields[14])) / 100 + living.reduce((sum, one) => sum + one, 0);
}

function read<T>(file: string, sql: string, use: (rows: Iterable<Record<string, unknown>>) => T): T {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return use(db.prepare(sql).iterate() as Iterable<Record<string, unknown>>);
  } finally {
    db.close();
  }
}

/** By source: when any of its ticks was or will be due. */
function dueTimes(file: string): Map<string, number> {
  const sql = 'SELECT runnable_id, next_at_ms FROM triggers WHERE next_at_ms IS NOT NULL';
  return read(file, sql, (rows) => new Map([...rows].map((row) => [String(row.runnable_id), Number(row.next_at_ms)])));
}

function pages(file: string): { page_bytes: number } {
  const sql = 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()';
  return read(file, sql, ([row]) => ({ page_bytes: Number(row?.bytes ?? 0) }));
}

/** Of the ticks that were due in that time. A tick that was skipped, or is more than a minute late, is missing here. */
function lateness(file: string, of: { dueAtMs: Map<string, number>; fromMs: number; toMs: number }): number[] {
  const late: number[] = [];
  const sql = "SELECT emitter_id, body FROM emissions WHERE emitter_id GLOB 'dc_*'";
  read(file, sql, (rows) => {
    for (const { emitter_id, body } of rows) {
      const due = of.dueAtMs.get(String(emitter_id));
      const { at } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as { at?: number };
      if (due === undefined || at === undefined) continue;
      const lateMs = (((at - due) % MINUTE_MS) + MINUTE_MS) % MINUTE_MS;
      if (at - lateMs >= of.fromMs && at - lateMs < of.toMs) late.push(lateMs);
    }
  });
  return late;
}

function ticksBetween(dueAtMs: number, fromMs: number, toMs: number): number {
  return Math.ceil((toMs - dueAtMs) / MINUTE_MS) - Math.ceil((fromMs - dueAtMs) / MINUTE_MS);
}

function worst(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}
