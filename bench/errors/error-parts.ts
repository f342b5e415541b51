// The parts of the benchmark on errors: how soon each is seen, heard and mailed, and what a storm of them costs.

import { add, addSpread, below } from '../kit/figures.ts';
import { envOn, startDatabase } from '../stores/postgres.ts';
import { errorTimes } from './error-times.ts';
import { STORMS, type Storm, type StormKind, storm } from './storm.ts';

interface Sizes {
  readonly seconds: number;
  /** Of one storm. */
  readonly errors: number;
  /** `thrown`, `reported`, `thrown on Postgres`, `reported on Postgres`; left out: those on SQLite. */
  readonly cases: readonly string[] | undefined;
}

const PER_SECOND = 200;
/** Of 100 events. */
const FAILING = [1, 10, 100];
/** Seldom errors are sent for longer, for there to be some. */
const SELDOM = 4;
/** Of the idle server. */
const GOAL = 1.5;
const ON_POSTGRES = ' on Postgres';

export const errorParts = ({ seconds, errors, cases }: Sizes): Readonly<Record<string, () => Promise<void>>> => ({
  'error-times': async () => {
    for (const percent of FAILING) {
      const of = { perSecond: PER_SECOND, seconds: percent === FAILING[0] ? SELDOM * seconds : seconds, percent };
      const { listed, handled, mailed } = await errorTimes(of);
      const which = `${PER_SECOND} events/s, ${percent} % fail`;
      addSpread(`27 throw → listed, ${which}`, listed, {});
      addSpread(`27 throw → handler started, ${which}`, handled, {});
      addSpread(`27 throw → mail handed over, ${which}`, mailed, {});
    }
  },

  storm: async () => {
    for (const name of cases ?? STORMS) {
      const kind = STORMS.find((one) => name === one || name === one + ON_POSTGRES);
      if (kind === undefined)
        throw new Error(`no case ${name}; there are ${STORMS.join(', ')}, each also${ON_POSTGRES}`);
      if (!name.endsWith(ON_POSTGRES)) show(name, kind, errors, await storm({ kind, errors, seconds }));
      else {
        await using database = await startDatabase();
        show(name, kind, errors, await storm({ kind, errors, seconds, env: await envOn(database, `storm_${kind}`) }));
      }
    }
  },
});

function show(name: string, kind: StormKind, errors: number, of: Storm): void {
  const { idle, beside, yardstick, memoryMb } = of;
  const all = kind === 'thrown' ? 'thrown and captured' : 'reported';
  add({
    name: `28 ${errors} errors ${name}: until all were taken`,
    value: of.takenSeconds,
    unit: 's',
    note: `nothing left to do after ${of.settledSeconds.toFixed(1)} s; ${of.refused} refused and sent again`,
  });
  add({
    name: `28   … missing`,
    value: errors - Math.min(of.captured, of.counted),
    unit: '',
    note: `${all}: ${of.captured} in the ledger, ${of.counted} counted in ${of.groups} groups; ${of.mails} mails`,
  });
  const ratio = beside.p99 / idle.p99;
  add({
    name: `28   … calls of another owner, p99`,
    value: ratio,
    unit: 'of idle',
    note: `p50/p99 ${beside.p50.toFixed(1)}/${beside.p99.toFixed(1)} ms of ${beside.count}, idle ${idle.p50.toFixed(1)}/${idle.p99.toFixed(1)} ms of ${idle.count}`,
    ...below(ratio, GOAL, 'of idle'),
  });
  for (const [what, { idle, beside }] of [
    ['reads', of.reads],
    ['events', of.events],
  ] as const) {
    add({
      name: `28   … of those, ${what}, p99`,
      value: beside.p99 / idle.p99,
      unit: 'of idle',
      note: `p50/p99 ${beside.p50.toFixed(1)}/${beside.p99.toFixed(1)} ms of ${beside.count}, idle ${idle.p50.toFixed(1)}/${idle.p99.toFixed(1)} ms of ${idle.count}`,
    });
  }
  const contention = yardstick.beside.p99 / yardstick.idle.p99;
  add({
    name: `28   … calls of a server that does nothing, p99`,
    value: contention,
    unit: 'of idle',
    note: `p50/p99 ${yardstick.beside.p50.toFixed(1)}/${yardstick.beside.p99.toFixed(1)} ms, idle ${yardstick.idle.p50.toFixed(1)}/${yardstick.idle.p99.toFixed(1)} ms; the calls' ratio over this one: ${(ratio / contention).toFixed(2)}`,
  });
  add({
    name: `28   … resident at most`,
    value: memoryMb.peak,
    unit: 'MB',
    note: `${memoryMb.before.toFixed(0)} MB before, ${memoryMb.after.toFixed(0)} MB five seconds after`,
  });
}
