// Time in which the server stood still counts for no run's timeout.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Standstill } from '../../../../src/runner/pool/standstill.ts';
import { faultOf, kit, returned, signal } from '../kit.ts';

/** Stands still as a machine does whose lid is closed: the timers of that time fire at once behind it. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Ends after the standstill, and so beyond its time by the clock. */
const ANSWERS_AND_WAITS = `export default async ({ $ }) => {
  await $.respond({ immediate: true });
  await new Promise((resolve) => setTimeout(resolve, 3500));
  return 'ended';
}`;

test('a run whose time passed while the server stood still is not late', async (t) => {
  const { run } = kit(t, { standstill: new Standstill() });
  const { came, onAnswer } = signal();
  const running = run(ANSWERS_AND_WAITS, { timeoutMs: 2000, onAnswer });
  await came;
  standStill(3000);
  assert.equal(returned(await running), 'ended');
});

test('a run that never ends has its time behind the standstill, and no more', async (t) => {
  const { run } = kit(t, { standstill: new Standstill() });
  const { came, onAnswer } = signal();
  const endless =
    'export default async ({ $ }) => { await $.respond({ immediate: true }); await new Promise(() => {}) }';
  const running = run(endless, { timeoutMs: 2000, onAnswer });
  await came;
  standStill(3000);
  assert.equal(faultOf(await running).code, 'Timeout');
});

test('what stands still is counted while it is watched', async () => {
  const standstill = new Standstill();
  standStill(1600);
  assert.equal(standstill.totalMs(), 0, 'it was not watched');
  standstill.watch();
  standStill(2000);
  const first = standstill.totalMs();
  assert.ok(first >= 1400, `${first} ms`);
  assert.equal(standstill.totalMs(), first, 'it is counted once');
  await pause(10);
  standstill.rest();
  standStill(2000);
  standstill.watch();
  assert.equal(standstill.totalMs(), first, 'time in between is not counted');
  standstill.rest();
});
