// The parts of the benchmark on what owners cost each other, and what many workflows of one cost it.

import { attacked } from './attacker.ts';
import { add, below } from './figures.ts';
import { smallWorkflows } from './small-workflows.ts';

/** Of the idle server's. */
const GOAL = 2;

export const OWNER_PARTS: Readonly<Record<string, () => Promise<void>>> = {
  attacker: async () => {
    let idleMs = Number.NaN;
    for await (const { name, spread } of attacked()) {
      const note = `p99 ${spread.p99.toFixed(1)} ms, p50 ${spread.p50.toFixed(1)} ms, of ${spread.count}`;
      if (name === 'idle') {
        idleMs = spread.p99;
        add({ name: '23 a single run, idle server, p99', value: idleMs, unit: 'ms', note });
        continue;
      }
      const ratio = spread.p99 / idleMs;
      add({ name: `23 … beside ${name}, p99`, value: ratio, unit: 'of idle', note, ...below(ratio, GOAL, 'of idle') });
    }
  },

  small: async () => {
    for (const [count, rounds] of [
      [24, 30],
      [100, 5],
    ] as const) {
      const { starts, roundMs } = await smallWorkflows(count, rounds);
      const note = `${count * rounds} runs; a round ${roundMs.toFixed(0)} ms`;
      add({
        name: `24 ${count} workflows in turn, processes started`,
        value: starts,
        unit: '',
        note,
        ...below(starts, count + 1, ''),
      });
    }
  },
};
