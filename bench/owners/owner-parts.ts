// The parts of the benchmark on what owners cost each other, and what many workflows of one cost it.

import { add, below } from '../kit/figures.ts';
import { attackerPart } from './attacker-part.ts';
import { smallWorkflows } from './small-workflows.ts';

interface Sizes {
  readonly rounds: number;
  readonly seconds: number;
  /** Of the attacker's; left out: all. */
  readonly cases: readonly string[] | undefined;
}

export const ownerParts = (sizes: Sizes): Readonly<Record<string, () => Promise<void>>> => ({
  attacker: () => attackerPart(sizes),

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
});
