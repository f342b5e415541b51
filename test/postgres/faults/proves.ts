// One fault as a test: the short version of what `npm run prove -- --postgres` goes through at length.

import { ok } from 'node:assert/strict';
import { it } from 'node:test';
import type { Run } from '../../prove/postgres/scenarios.ts';
import { isSound, textOf } from '../../prove/report.ts';

const SEED = Number(process.env.PROVE_SEED ?? Date.now() % 1_000_000);

/** Real processes under load. When it fails, the seed brings the same events and moments back, though not the timing. */
export function proves(claim: string, run: Run): void {
  it(claim, async (test) => {
    const result = await run(SEED);
    if (typeof result === 'string') return test.skip(result);
    ok(isSound(result), `seed ${SEED}\n${textOf(claim, result)}`);
  });
}
