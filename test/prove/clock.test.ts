// The clock that the round of all faults sets forward and back is the one that a server would read.

import { ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { createFolder } from '../support/folders/folder.ts';
import { ShiftedClock } from './hooks/shifted-clock.ts';

const HOUR_MS = 3_600_000;
/** Far less than the clock is set by, and far more than a slow machine takes. */
const NEAR_MS = HOUR_MS / 2;
/** By how much each way to ask is off. What counts from the start of the process goes by a clock that never jumps. */
const TELLS = `setInterval(() => {
  const right = performance.timeOrigin + performance.now();
  console.log([Date.now(), new Date().getTime(), Date.parse(Date())].map((ms) => ms - right).join());
}, 10);`;

it('a process reads the clock as it is set while it runs', async () => {
  await using folder = await createFolder();
  const clock = new ShiftedClock(join(folder.path, 'clock'));
  const env = { ...process.env, ...clock.env };
  const child = spawn(process.execPath, ['--import', clock.preload, '-e', TELLS], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (const offsetMs of [0, 2 * HOUR_MS, -5 * HOUR_MS, 0]) {
      clock.set(offsetMs);
      for (let isThere = false; !isThere; ) {
        const { value, done } = await lines.next();
        ok(!done, 'it goes on telling');
        const told = (value as string).split(',').map(Number);
        isThere = told.every((ms) => Math.abs(ms - offsetMs) < NEAR_MS);
      }
    }
  } finally {
    child.kill('SIGKILL');
  }
});
