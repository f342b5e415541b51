// The pause before a process is started again for code that keeps ending its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestartBackoff } from '../../../../src/runner/pool/restart-backoff.ts';
import { deploymentOf, kit, requestOf, returned } from '../kit.ts';

const START_MS = 1_000_000;

/** How long the pause is after so many ends in a row, `everyMs`. */
function pauseAfter(ends: number, everyMs = 100): number {
  const restarts = new RestartBackoff();
  let nowMs = START_MS;
  for (let n = 0; n < ends; n++) {
    nowMs += everyMs;
    restarts.endedEarly('d_1', nowMs);
  }
  let pauseMs = 0;
  while (restarts.isPausing('d_1', nowMs + pauseMs)) pauseMs += 50;
  assert.equal(restarts.isPausing('d_2', nowMs), false, 'other code');
  return pauseMs;
}

test('the pause doubles with each end, up to five seconds', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 8, 9, 100].map((ends) => pauseAfter(ends)),
    [0, 0, 0, 100, 200, 400, 3200, 5000, 5000],
  );
});

test('ends far apart are no row', () => {
  assert.equal(pauseAfter(9, 61_000), 0);
});

test('runs wait for the pause, and none fails for it', async (t) => {
  const { run, runner } = kit(t);
  const exits = await deploymentOf('export default () => process.exit(3)');
  const other = { ...(await deploymentOf('export default () => 1')), ownerId: 'u_2' };
  const endedAt: number[] = [];
  for (let n = 0; n < 7; n++) {
    assert.equal(returned(await run(other)), 1);
    const { end } = await runner.run(requestOf(exits, { timeoutMs: 60_000 }));
    endedAt.push(performance.now());
    assert.equal(end.kind === 'failed' && end.fault.code, 'WorkerExit');
  }
  const [sixth = 0, seventh = 0] = endedAt.slice(-2);
  assert.ok(seventh - sixth > 750, `800 ms after six ends, and not ${seventh - sixth}`);
});
