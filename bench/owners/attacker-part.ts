// The part of the benchmark on attackers: for each attack, how much longer than on the idle server a run of another owner takes
// at most, and what its slowest runs waited for.

import { add, below } from '../kit/figures.ts';
import { spreadOf } from '../kit/stats.ts';
import { attacked, CASES, type Sample } from './attacker.ts';
import type { SchedCounts } from './sched-delay.ts';

/** Of the idle server's. */
const GOAL = 2;
const PERCENT = 0.01;

interface Sizes {
  readonly rounds: number;
  readonly seconds: number;
  readonly cases: readonly string[] | undefined;
}

export async function attackerPart({ rounds, seconds, cases = CASES }: Sizes): Promise<void> {
  for (const name of cases) {
    if (!CASES.includes(name)) throw new Error(`no case ${name}; there are: ${CASES.join('; ')}`);
    const idle: Sample[] = [];
    const beside: Sample[] = [];
    const ratios: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const taken = await attacked(name, seconds);
      ratios.push((p99Of(taken.attacked) / p99Of(taken.idle)).toFixed(2));
      idle.push(...taken.idle);
      beside.push(...taken.attacked);
    }
    const ratio = p99Of(beside) / p99Of(idle);
    const note = `p50/p99/max ${shown(beside)}, idle ${shown(idle)}; rounds ${ratios.join(' ')}`;
    add({
      name: `23 a run beside ${name}, p99`,
      value: ratio,
      unit: 'of idle',
      note,
      ...below(ratio, GOAL, 'of idle'),
    });
    process.stdout.write(`   the slowest percent: ${causes(beside)}; idle: ${causes(idle)}\n`);
  }
}

function p99Of(samples: readonly Sample[]): number {
  return spreadOf(samples.map(({ tookMs }) => tookMs)).p99;
}

function shown(samples: readonly Sample[]): string {
  const took = samples.map(({ tookMs }) => tookMs);
  const { p50, p99, count } = spreadOf(took);
  return `${[p50, p99, Math.max(...took)].map((ms) => ms.toFixed(1)).join('/')} ms of ${count}`;
}

/** What the slowest samples have in common: the mean of each count, in ms. */
function causes(samples: readonly Sample[]): string {
  const sorted = samples.toSorted((a, b) => b.tookMs - a.tookMs);
  const slowest = sorted.slice(0, Math.max(1, Math.floor(samples.length * PERCENT)));
  const mean = (of: (sample: Sample) => number): string =>
    (slowest.reduce((sum, sample) => sum + of(sample), 0) / slowest.length).toFixed(1);
  const names = Object.keys(slowest[0]?.sched ?? {}) as (keyof SchedCounts)[];
  return [`took ${mean((it) => it.tookMs)}`, ...names.map((name) => `${name} ${mean((it) => it.sched[name])}`)].join(
    ' ',
  );
}
