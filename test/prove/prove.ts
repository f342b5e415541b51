// Proves the promises about crashes on the real process: `npm run prove -- [--seed N] [--kills N]`. Exits non-zero on any
// loss, and on anything that is there twice but may be there once.

import { parseArgs } from 'node:util';
import { isSound, textOf } from './report.ts';
import { filledUp, killed, type Result, terminated } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '24' },
    burst: { type: 'string', default: '4000' },
    only: { type: 'string' },
  },
});
const seed = Number(values.seed);
process.stdout.write(`seed ${seed}\n`);

const scenarios: Record<string, () => Promise<Result | string>> = {
  killed: () => killed(seed, Number(values.kills), Number(values.burst)),
  terminated: () => terminated(seed, 3),
  'disk full': () => filledUp(seed),
};

let isAllSound = true;
for (const [name, run] of Object.entries(scenarios)) {
  if (values.only !== undefined && values.only !== name) continue;
  const result = await run();
  if (typeof result === 'string') process.stdout.write(`${name}: skipped, ${result}\n`);
  else {
    process.stdout.write(`${textOf(name, result)}\n`);
    isAllSound &&= isSound(result);
  }
}
process.exitCode = isAllSound ? 0 : 1;
