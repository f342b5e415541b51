// The priority of a process: of all its threads, as Linux has them.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { greedy, Priorities, prioritize } from '../../../../src/runner/pool/priority.ts';
import { until } from '../kit.ts';

const skip = !existsSync('/proc/self/task') && 'needs /proc';
const NICE = 16;
const POLICY = 38;
/** SCHED_OTHER and SCHED_IDLE. */
const USUAL = 0;
const IDLE = 5;
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

const CHRT = '/usr/bin/chrt';
const noPolicies = skip || (!existsSync(CHRT) && `needs ${CHRT}`);

test('all threads of a process leave the CPU to others at once', { skip: noPolicies }, async (t) => {
  const children = [0, 1].map(() => spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'pipe', 'inherit'] }));
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
  });
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const policies = () => new Set(children.flatMap(({ pid }) => statsOf(pid as number, POLICY)));
  assert.deepEqual(policies(), new Set([USUAL]));
  const priorities = new Priorities();
  for (const { pid } of children) assert.equal(priorities.set(pid as number, true), true);
  await until(() => policies().size === 1 && policies().has(IDLE));
  if (process.getuid?.() !== 0) return;
  for (const { pid } of children) assert.equal(priorities.set(pid as number, false), true);
  await until(() => policies().size === 1 && policies().has(USUAL));
});

test('policies that change again are set by the same process', { skip: noPolicies }, async (t) => {
  const child = spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const pid = child.pid as number;
  const priorities = new Priorities();
  const before = settersOf();
  const setters = () => settersOf().filter((setter) => !before.includes(setter));
  const hasPolicy = async (isLow: boolean): Promise<number[]> => {
    priorities.set(pid, isLow);
    await until(() => statsOf(pid, POLICY).every((policy) => policy === (isLow ? IDLE : USUAL)));
    return setters();
  };
  const [setter, ...others] = await hasPolicy(true);
  assert.deepEqual(others, []);
  if (process.getuid?.() !== 0) return;
  assert.deepEqual(await hasPolicy(false), [setter]);
  process.kill(setter as number, 'SIGKILL');
  await until(() => setters().length === 0);
  assert.notDeepEqual(await hasPolicy(true), [setter], 'another one follows one that was killed');
});

const AUTOGROUP = '/proc/self/autogroup';
const noGroups = skip || (!existsSync(AUTOGROUP) && 'the system does not group processes by session');

test('a session of its own gives way as a whole', { skip: noGroups }, async (t) => {
  const child = spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const own = readFileSync(AUTOGROUP, 'latin1');
  assert.equal(prioritize(child.pid as number, true), true);
  assert.match(readFileSync(`/proc/${child.pid}/autogroup`, 'latin1'), / nice 19$/m);
  assert.equal(readFileSync(AUTOGROUP, 'latin1'), own, "the test's own stays");
});

test('and not that of the server', { skip: noGroups }, async (t) => {
  const child = spawn(process.execPath, ['-e', BUSY], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const own = readFileSync(AUTOGROUP, 'latin1');
  assert.equal(prioritize(child.pid as number, true), true);
  assert.equal(readFileSync(AUTOGROUP, 'latin1'), own);
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

test('an owner that is about as busy as the bound keeps its priority', () => {
  const used = (a: number, b: number) =>
    new Map([
      ['a', a],
      ['b', b],
    ]);
  const low = new Set(['a']);
  assert.deepEqual(greedy(used(190, 10), low), low);
  assert.deepEqual(greedy(used(190, 200), low), new Set(), 'no more than an equal part');
  assert.deepEqual(greedy(used(90, 10), low), new Set(), 'too little');
  assert.deepEqual(greedy(used(190, 700), low), new Set(['b']), 'the other one takes more');
});

/** The processes that set policies for this one. */
function settersOf(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').split(' ').filter(Boolean);
  return children.map(Number).filter((pid) => isSetter(pid));
}

function isSetter(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('chrt');
  } catch {
    return false; // it has ended
  }
}

function nicesOf(pid: number): number[] {
  return statsOf(pid, NICE);
}

/** A field of each thread, counted behind its name. */
function statsOf(pid: number, field: number): number[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field]);
  });
}
