// The short version of `npm run prove -- --only mixed`: some faults of a plan under mixed load, and a witness that sees the
// API alone.

import { ok } from 'node:assert/strict';
import { it } from 'node:test';
import { isSoundMixed, mixedOnFile, textOfMixed } from './mixed/mixed.ts';
import type { FaultKind } from './mixed/plan.ts';

const SEED = Number(process.env.PROVE_SEED ?? Date.now() % 1_000_000);

/** All but those that stand still for longer than a lease, which means nothing to a server that is alone. */
const BRIEF: readonly FaultKind[] = [
  'kill one',
  'kill at start',
  'kill while it stops',
  'terminate one',
  'kill children',
  'children stand still',
  'clock forward',
  'clock back',
  'receivers away',
  'callers leave',
];

it('a server loses, doubles and forgets nothing under mixed load and faults', async () => {
  const lines: string[] = [];
  const tell = (line: string): void => void lines.push(line);
  const result = await mixedOnFile({ seed: SEED, minutes: 0.3, faults: 10, load: 0, only: BRIEF, tell });
  ok(isSoundMixed(result), [`seed ${SEED}`, ...lines, textOfMixed('mixed', result)].join('\n'));
});
