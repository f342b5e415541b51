// Proves the promises about crashes on the real process, or with `--postgres` on several of them that share a database:
//
//   npm run prove -- [--postgres] [--only name] [--seed N] [--times N] [--kills N]
//
// `--times`: each scenario so often, with one seed after the other. Exits non-zero on any loss, and on anything that is
// there twice but may be there once.

import { parseArgs } from 'node:util';
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
  },
});

type Scenarios = Readonly<Record<string, (seed: number) => Promise<Result | string>>>;

const onFile: Scenarios = {
  killed: (seed) => killed(seed, Number(values.kills ?? 24), Number(values.burst)),
  terminated: (seed) => terminated(seed, 3),
  'disk full': (seed) => filledUp(seed),
};

async function onPostgres(): Promise<Scenarios> {
  const { atLength } = await import('./postgres/scenarios.ts');
  return atLength(Number(values.kills ?? 8));
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
    const result = await run(seed);
    if (typeof result === 'string') process.stdout.write(`  skipped, ${result}\n`);
    else {
      process.stdout.write(`${textOf(name, result)}\n  took ${Math.round((Date.now() - startedAt) / 1000)} s\n`);
      isAllSound &&= isSound(result);
    }
  }
}
// Node itself, closing what is open at the end, has waited for ever for a connection that a stopped Postgres had left.
process.stdout.write('', () => process.exit(isAllSound ? 0 : 1));
