// The short version of `npm run prove -- --postgres --only mixed`.

import { ok } from 'node:assert/strict';
import { it } from 'node:test';
import { isSoundMixed, mixedOnPostgres, textOfMixed } from '../../prove/mixed/mixed.ts';

const SEED = Number(process.env.PROVE_SEED ?? Date.now() % 1_000_000);

it('three nodes lose, double and forget nothing under mixed load and faults', async () => {
  const lines: string[] = [];
  const tell = (line: string): void => void lines.push(line);
  const result = await mixedOnPostgres({ seed: SEED, minutes: 0.4, faults: 6, load: 0, tell });
  ok(isSoundMixed(result), [`seed ${SEED}`, ...lines, textOfMixed('mixed', result)].join('\n'));
});
