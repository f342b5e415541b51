// The server on a disk whose syncs take longer: a library that is loaded into it delays each fsync and fdatasync, of all
// threads. Compiled here, by the C compiler of the machine.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { add, atLeast } from '../kit/figures.ts';
import type { Env } from '../kit/server.ts';
import { median } from '../kit/stats.ts';
import { acceptAndRun, type Flood, type Times } from './throughput.ts';

const CONCURRENCY = 1000;
const DELAYS: readonly { readonly ms: number; readonly goal: number }[] = [
  { ms: 0, goal: 1 },
  { ms: 2, goal: 0.95 },
  { ms: 5, goal: 0.9 },
];

/** Null: there is no compiler, or no such loader. */
function compiled(): string | null {
  const dir = mkdtempSync(join(tmpdir(), 'errand-slow-sync-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'slow-sync.so');
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', file, join(import.meta.dirname, 'slow-sync.c')]);
    return process.platform === 'linux' ? file : null;
  } catch {
    return null;
  }
}

export async function slowDisks({ rounds, times }: { rounds: number; times: Times }): Promise<void> {
  const library = compiled();
  if (library === null) {
    process.stdout.write('25 slow disk: skipped, it needs Linux and a C compiler (cc)\n');
    return;
  }
  const envOf = (ms: number): Env => ({ LD_PRELOAD: library, SLOW_SYNC_US: String(ms * 1000) });
  const measured = DELAYS.map((): Flood[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { ms }] of DELAYS.entries()) {
      measured[i]?.push(await acceptAndRun(times, CONCURRENCY, { env: envOf(ms) }));
    }
  }
  tell(measured);
}

function tell(measured: readonly (readonly Flood[])[]): void {
  const of = (i: number, read: (flood: Flood) => number): number => median((measured[i] ?? []).map(read));
  const fast = of(0, (flood) => flood.finishedPerSecond);
  for (const [i, { ms, goal }] of DELAYS.entries()) {
    const rate = of(i, (flood) => flood.finishedPerSecond);
    const [p50, p99] = [of(i, (flood) => flood.p50Ms), of(i, (flood) => flood.p99Ms)];
    const cpu = of(i, (flood) => flood.serverCpuUs);
    const all = measured[i]?.map((flood) => Math.round(flood.finishedPerSecond)).join(', ');
    const note = `${Math.round(rate)}/s; rounds: ${all}; answer p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; CPU ${Math.round(cpu)} µs an event`;
    const judged = ms > 0 ? atLeast(rate / fast, goal, '') : {};
    add({ name: `25 accept → finished, syncs +${ms} ms`, value: rate / fast, unit: 'of +0', note, ...judged });
  }
}
