import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../../../../src/domain/limits.ts';
import { LedgerHours } from '../../../../src/engine/ledger-hours.ts';

test('hours are noted owner by owner, from the first again', async () => {
  const asked: [string | null, number][] = [];
  const next = ['u_200', 'u_400', null];
  const nowMs = 1_782_000_000_000;
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const hours = new LedgerHours({
    store: {
      noteHours: async (after, beforeMs) => {
        asked.push([after, (nowMs - beforeMs) / DAY_MS]);
        return { next: next[(asked.length - 1) % next.length] ?? null };
      },
    },
    clock: { nowMs: () => nowMs },
    random: { bytes: (count) => new Uint8Array(count), fraction: () => 0.5 },
    log: silent,
  });
  for (let n = 0; n < 2; n++) equal(await hours.tick(), 20, 'there are more owners');
  equal(await hours.tick(), Number.POSITIVE_INFINITY);
  await hours.tick();
  deepEqual(asked, [
    [null, 90],
    ['u_200', 90],
    ['u_400', 90],
    [null, 90],
  ]);
});
