// The short version of `npm run prove`: the real process, killed under load, and not an event lost.

import { ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isSound, textOf } from './report.ts';
import { killed, terminated } from './scenarios.ts';

const SEED = Number(process.env.PROVE_SEED ?? Date.now() % 1_000_000);

describe('a server killed under load', () => {
  it('loses nothing to five kills', async () => {
    const result = await killed(SEED, 5, 2000);
    ok(isSound(result), `seed ${SEED}\n${textOf('killed', result)}`);
  });

  it('loses nothing to SIGTERM', async () => {
    const result = await terminated(SEED, 1);
    ok(isSound(result), `seed ${SEED}\n${textOf('terminated', result)}`);
  });
});
