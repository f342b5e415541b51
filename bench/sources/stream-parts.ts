// The parts of the benchmark on what sources emit, and on who reads it.

import { add, addSpread } from '../kit/figures.ts';
import { median } from '../kit/stats.ts';
import { bareInserts, emitting } from './emissions.ts';
import { reading } from './streams.ts';
import { ticking } from './timers.ts';

const ROWS = 100_000;
const MANY = { runs: 30, perRun: 1000 };
const SINGLE = { runs: 3000, perRun: 1 };

export function streamParts(of: {
  rounds: number;
  readers: number;
  seconds: number;
  sources: number;
}): Record<string, () => Promise<void>> {
  return {
    emissions: async () => {
      const rounds: { bare: number; many: number; single: number; cpu: readonly [number, number] }[] = [];
      for (let n = 0; n < of.rounds; n++) {
        const bare = await bareInserts(ROWS);
        const [many, single] = [await emitting(MANY), await emitting(SINGLE)];
        rounds.push({
          bare,
          many: many.perSecond,
          single: single.perSecond,
          cpu: [many.serverCpuUs, single.serverCpuUs],
        });
      }
      const note = (key: 'many' | 'single', at: 0 | 1): string =>
        `${median(rounds.map((r) => r[key] / r.bare)).toFixed(3)} of bare inserts; ` +
        `server ${Math.round(median(rounds.map(({ cpu }) => cpu[at])))} µs each; rounds: ${rounds.map((r) => Math.round(r[key])).join(', ')}`;
      add({ name: '18 bare inserts, SQLite', value: median(rounds.map((r) => r.bare)), unit: '/s' });
      add({
        name: '18 emissions, 1,000 to a run',
        value: median(rounds.map((r) => r.many)),
        unit: '/s',
        note: note('many', 0),
      });
      add({
        name: '18   … one to a run',
        value: median(rounds.map((r) => r.single)),
        unit: '/s',
        note: note('single', 1),
      });
    },

    streams: async () => {
      const { kibPerReader, idleCpu, aloneCpu, one, all } = await reading(of.readers);
      add({ name: `19 ${of.readers} idle readers, memory of one`, value: kibPerReader, unit: 'KiB' });
      const note = `${(aloneCpu * 100).toFixed(1)} % without them`;
      add({ name: '19   … CPU of the server', value: idleCpu * 100, unit: '%', note });
      addSpread('19 POST → one reader beside them', one, {});
      addSpread('19 POST → all of them', all, {});
    },

    timers: async () => {
      const { create, createPerSecond, late, worstMs, expected, ...costs } = await ticking(of.sources, of.seconds);
      addSpread(`21 ${of.sources} timer sources made, one`, create, {});
      add({ name: '21   … by the second, at most 4 at once', value: createPerSecond, unit: '/s' });
      addSpread('21 tick due → its run, one minute each', late, {});
      add({ name: '21   … the latest', value: worstMs, unit: 'ms', note: `${late.count} ran, ${expected} were due` });
      add({ name: '21   … CPU of the server', value: costs.serverCpu * 100, unit: '%' });
      add({ name: '21   … CPU of its children', value: costs.childrenCpu * 100, unit: '%' });
      add({ name: '21   … server, resident', value: costs.serverMb, unit: 'MB', note: 'at the most' });
      const note = `${costs.children} of them, of their own, at the most`;
      add({ name: '21   … children', value: costs.childrenMb, unit: 'MB', note });
      add({ name: '21   … the store', value: costs.storeMb, unit: 'MB' });
    },
  };
}
