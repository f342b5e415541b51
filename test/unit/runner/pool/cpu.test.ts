// What the system tells of a process: whether it waits for what others have, and whether it is ending.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cpuOf, isExiting } from '../../../../src/runner/pool/cpu.ts';
import { until } from '../kit.ts';

const skip = process.platform === 'linux' ? false : 'the system does not tell';

test('a process that is over and kept is exiting', { skip }, async () => {
  // The shell becomes a program that never asks for the end of the shell's child.
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(parent.stdout.setEncoding('utf8'), 'data');
  const over = Number(line);
  await until(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').startsWith('sleep'));
  assert.equal(isExiting(over), false);
  process.kill(over, 'SIGKILL');
  await until(() => isExiting(over));
  assert.equal(isExiting(parent.pid as number), false);
  assert.equal(isExiting(process.pid), false);
  parent.kill();
  await once(parent, 'close');
  assert.equal(isExiting(parent.pid as number), false, 'it is gone');
});

test('a stopped process waits and a sleeping one does not', { skip }, async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const pid = child.pid as number;
  await until(() => cpuOf(pid)?.isWaiting === false);
  child.kill('SIGSTOP');
  await until(() => cpuOf(pid)?.isWaiting === true && cpuOf(pid)?.isRunnable === false);
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.equal(cpuOf(pid), null);
});

test('a process that asks is running', { skip }, () => {
  const cpu = cpuOf(process.pid);
  assert.deepEqual([cpu?.isRunnable, cpu?.isWaiting], [true, true]);
  assert.ok((cpu?.usedMs ?? 0) > 0);
});
