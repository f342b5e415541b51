// The priority of a process: of all its threads, as Linux has them.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { greedy, prioritize } from '../../../src/runner/priority.ts';

const skip = !existsSync('/proc/self/task') && 'needs /proc';
const NICE = 16;
const BUSY = `setInterval(() => 'x'.repeat(100_000), 1); process.stdout.write('up');`;

test('all threads of a process give way', { skip }, async (t) => {
  const child = spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const pid = child.pid as number;
  const before = nicesOf(pid);
  assert.ok(before.length > 1, 'V8 has threads of its own');
  assert.equal(prioritize(pid, true), true);
  assert.deepEqual(new Set(nicesOf(pid)), new Set([19]));
});

test('a process that is gone has no priority', () => {
  assert.equal(prioritize(2 ** 30, true), false);
});

test('an owner gives way that uses much more than an equal part', () => {
  assert.deepEqual(
    greedy(
      new Map([
        ['a', 900],
        ['b', 10],
      ]),
    ),
    new Set(['a']),
  );
  assert.deepEqual(
    greedy(
      new Map([
        ['a', 500],
        ['b', 500],
      ]),
    ),
    new Set(),
  );
  assert.deepEqual(
    greedy(
      new Map([
        ['a', 90],
        ['b', 1],
      ]),
    ),
    new Set(),
    'of a CPU that is free',
  );
  assert.deepEqual(greedy(new Map([['a', 900]])), new Set(), 'to nobody');
});

function nicesOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[NICE]);
  });
}
