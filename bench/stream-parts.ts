// The parts of the benchmark on what sources emit, and on who reads it.

import { bareInserts, emitting } from './emissions.ts';
import { add, addSpread } from './figures.ts';
import { median } from './stats.ts';
import { reading } from './streams.ts';

const ROWS = 100_000;
const MANY = { runs: 30, perRun: 1000 };
const SINGLE = { runs: 3000, perRun: 1 };

export function streamParts(of: { rounds: number; readers: number }): Record<string, () => Promise<void>> {
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
  };
}
