// Proves the promises about crashes on the real process, or with `--postgres` on several of them that share a database:
//
//   npm run prove -- --power [--seed N] [--cuts N]
//   npm run prove -- [--postgres] [--only name] [--seed N] [--times N] [--kills N] [--minutes N] [--count N] [--load N]
//     [--faults a,b]
//
// `--times`: each scenario so often, with one seed after the other. `--minutes`: how long the scenario "mixed" goes on, in
// which all faults come by a plan that the seed brings back: until there were `--count`, or longer, until there were `--kills`.
// `--load`: so many processes want to run at every moment, other programs of the machine included. `--faults`: of these kinds
// alone. `--power`: the power of the server's disk is cut instead; see power/.
//
// As root on Linux it runs in a mount namespace of its own, for disks that are filled up; else "disk full" is left out.
// Exits non-zero on any loss, and on anything that is there twice but may be there once.
//
// "mixed" on two cores, with other work on the machine besides; the load is the machine's average. Lost, doubled (but for
// deliveries), stuck and wrong looks at the ledger were 0:
//
//   SQLite, one process     `--minutes 3 --kills 100 --seed 4104`: 6 min, load 10, 12 kinds of fault, 101 kills, 8,410 events
//                           acknowledged; with `--load 20 --seed 2105`: 13 min, load 26, 2,951 events
//   Postgres, three nodes   `--minutes 5 --kills 105 --seed 4103`: 10 min, load 14, 21 kinds of fault, 105 kills, 17,256 events;
//                           3,687 waits, none of them cut short, with clocks of nodes up to five hours ahead and behind;
//                           `--kills 30 --minutes 3 --seed 2201`: load 49, 16 kinds, 31 kills, 4,377 events
//
// All but "mixed" and `--power` also resolve groups of errors and replay them all the while, and in the end repair the code and
// replay until every group is resolved, with a kill in the middle. `--only killed --kills 4`, each group counted exactly, each
// error with one result, none replayed twice: SQLite (seed 7, load 35), 32 replays by 10 operations; Postgres, three nodes
// (seed 11), 1,321 replays by 29 operations.
//
// `--power --cuts 50 --seed 4105`: 49 cuts with requests in flight, 21,036 events answered and 2,999 told of before their cut began,
// lost 0; before commits were synced beside the event loop, `--cuts 60 --seed 100`: 59 and 130,358, lost 0. With
// synchronous=NORMAL and no sync besides, five of five images have lost everything.
//
// Of the kinds, "partly silent" is the one that finds a node that is taken for gone while it goes on working: before what such a
// node ends was counted once, three minutes of it and of "hang" (seed 12) left three of 3,018 deliveries standing still, and -5
// being sent by the ledger.

import { parseArgs } from 'node:util';
import type { MixedOptions } from './mixed/mixed.ts';
import { isSoundMixed, mixedOnFile, mixedOnPostgres, textOfMixed } from './mixed/mixed.ts';
import type { FaultKind } from './mixed/plan.ts';
import { reasonAgainstDisks, runInside } from './own-mounts.ts';
import { provePower } from './power/main.ts';
import { isSound, textOf } from './report.ts';
import { filledUp, killed, terminated } from './scenarios.ts';
import type { Result } from './setting.ts';

const { values } = parseArgs({
  options: {
    postgres: { type: 'boolean', default: false },
    only: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    times: { type: 'string', default: '1' },
    kills: { type: 'string' },
    burst: { type: 'string', default: '4000' },
    minutes: { type: 'string', default: '8' },
    load: { type: 'string', default: '0' },
    faults: { type: 'string' },
    count: { type: 'string' },
    power: { type: 'boolean', default: false },
    cuts: { type: 'string', default: '50' },
  },
});

if (!values.power && reasonAgainstDisks() === null) {
  const code = runInside();
  if (code !== null) process.exit(code);
}
if (values.power) process.exit(await provePower({ seed: Number(values.seed), cuts: Number(values.cuts) }));

/** A reason instead, where it cannot be tried. */
type Outcome = { readonly isSound: boolean; readonly text: string } | string;
type Scenarios = Readonly<Record<string, (seed: number) => Promise<Outcome>>>;

function scenario(name: string, run: (seed: number) => Promise<Result | string>) {
  return async (seed: number): Promise<Outcome> => {
    const result = await run(seed);
    return typeof result === 'string' ? result : { isSound: isSound(result), text: textOf(name, result) };
  };
}

async function mixed(seed: number): Promise<Outcome> {
  const options: MixedOptions = {
    seed,
    minutes: Number(values.minutes),
    ...(values.kills === undefined ? {} : { kills: Number(values.kills) }),
    ...(values.count === undefined ? {} : { faults: Number(values.count) }),
    hasDisk: reasonAgainstDisks() === null,
    load: Number(values.load),
    ...(values.faults === undefined ? {} : { only: values.faults.split(',') as FaultKind[] }),
    tell: (line) => process.stdout.write(`  ${line}\n`),
  };
  const result = await (values.postgres ? mixedOnPostgres(options) : mixedOnFile(options));
  return { isSound: isSoundMixed(result), text: textOfMixed('mixed', result) };
}

const onFile: Scenarios = {
  killed: scenario('killed', (seed) => killed(seed, Number(values.kills ?? 24), Number(values.burst))),
  terminated: scenario('terminated', (seed) => terminated(seed, 3)),
  'disk full': scenario('disk full', filledUp),
  mixed,
};

async function onPostgres(): Promise<Scenarios> {
  const { atLength } = await import('./postgres/scenarios.ts');
  const each = Object.entries(atLength(Number(values.kills ?? 8)));
  return { ...Object.fromEntries(each.map(([name, run]) => [name, scenario(name, run)])), mixed };
}

const scenarios = values.postgres ? await onPostgres() : onFile;
if (values.only !== undefined && !(values.only in scenarios)) {
  throw new Error(`no scenario is called "${values.only}"; there are: ${Object.keys(scenarios).join(', ')}`);
}

let isAllSound = true;
for (const [name, run] of Object.entries(scenarios)) {
  if (values.only !== undefined && values.only !== name) continue;
  for (let time = 0; time < Number(values.times); time++) {
    const seed = Number(values.seed) + time;
    const startedAt = Date.now();
    process.stdout.write(`${name}, seed ${seed}\n`);
    const outcome = await run(seed);
    if (typeof outcome === 'string') process.stdout.write(`  skipped, ${outcome}\n`);
    else {
      process.stdout.write(`${outcome.text}\n  took ${Math.round((Date.now() - startedAt) / 1000)} s\n`);
      isAllSound &&= outcome.isSound;
    }
  }
}
// Node itself, closing what is open at the end, has waited for ever for a connection that a stopped Postgres had left.
process.stdout.write('', () => process.exit(isAllSound ? 0 : 1));
