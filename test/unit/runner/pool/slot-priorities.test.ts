// Which owners' processes get a low priority, and when.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeProcess, TestPool } from './slots-kit.ts';

test('a new process of a low priority owner has it at once', () => {
  using pool = new TestPool({ maxAwake: 10 });
  pool.run('a', 0);
  pool.run('b', 0);
  pool.settle();
  pool.nowMs += 1000;
  for (const one of pool.all) one.usedMs = one.ownerId === 'a' ? 600 : 10;
  pool.slots.sampleCpu();
  for (const ownerId of ['a', 'b']) {
    pool.run(ownerId, 1);
    pool.run(ownerId, 2, true);
  }
  const giving = (ownerId: string) =>
    pool.all.filter((one) => one.ownerId === ownerId).map(({ isLowPriority }) => isLowPriority);
  assert.deepEqual(giving('a'), [true, true, true]);
  assert.deepEqual(giving('b'), [false, false, false]);
});

test('an owner gets a low priority within a second', () => {
  using pool = new TestPool();
  for (const ownerId of ['a', 'b', 'idle']) pool.run(ownerId, 0);
  pool.settle();
  const idle = pool.all.find(({ ownerId }) => ownerId === 'idle');
  idle?.end();
  pool.nowMs += 1000;
  pool.slots.sampleCpu();
  const giving = () => pool.all.filter(({ isLowPriority }) => isLowPriority).map(({ ownerId }) => ownerId);
  assert.deepEqual(giving(), []);
  pool.nowMs += 200;
  for (const one of pool.all) one.usedMs = one.ownerId === 'a' ? 250 : 10;
  pool.slots.sampleCpu('busy');
  assert.deepEqual(giving(), ['a']);
  pool.nowMs += 200;
  for (const one of pool.all) one.usedMs = one.ownerId === 'b' ? 5 : 0;
  pool.slots.sampleCpu('busy');
  assert.deepEqual(giving(), ['a'], 'for the rest of the second');
  pool.nowMs += 600;
  pool.slots.sampleCpu();
  pool.nowMs += 1000;
  for (const one of pool.all) one.usedMs = 0;
  pool.slots.sampleCpu();
  assert.deepEqual(giving(), []);
});

test('short-lived processes count towards a low priority, too', () => {
  using pool = new TestPool();
  pool.run('b', 0);
  pool.settle();
  const [other] = pool.all;
  pool.nowMs += 1000;
  pool.slots.sampleCpu();
  for (let n = 0; n < 8; n++) {
    pool.run('a', n);
    const born = pool.all.find(({ ownerId }) => ownerId === 'a');
    assert.ok(born);
    born.isDraining = true;
    born.end();
    pool.settle();
  }
  assert.deepEqual(pool.all, [other], 'none of them was sampled');
  assert.ok(pool.cpuUse.usedMs('a', pool.nowMs) > 0);
  pool.nowMs += 1000;
  pool.slots.sampleCpu();
  pool.run('a', 8);
  assert.equal(pool.all.find(({ ownerId }) => ownerId === 'a')?.isLowPriority, true);
  assert.equal(other?.isLowPriority, false);
});

test('an owner that takes the CPU gets a low priority', () => {
  using pool = new TestPool();
  for (let n = 0; n < 3; n++) pool.run('a', n);
  pool.settle();
  const sample = (usedMs: (one: FakeProcess) => number) => {
    pool.nowMs += 1000;
    for (const one of pool.all) one.usedMs = usedMs(one);
    pool.slots.sampleCpu();
    return new Set(pool.all.filter(({ isLowPriority }) => isLowPriority).map(({ ownerId }) => ownerId));
  };
  assert.deepEqual(
    sample(() => 600),
    new Set(),
    'there is no other owner',
  );
  pool.run('b', 1);
  pool.settle();
  assert.deepEqual(
    sample(({ ownerId }) => (ownerId === 'a' ? 600 : 10)),
    new Set(['a']),
  );
  assert.deepEqual(
    sample(({ ownerId }) => (ownerId === 'a' ? 300 : 900)),
    new Set(),
    'each half',
  );
  assert.deepEqual(
    sample(({ ownerId }) => (ownerId === 'a' ? 20 : 0)),
    new Set(),
    'next to nothing',
  );
  assert.deepEqual(
    sample(({ ownerId }) => (ownerId === 'a' ? 0 : 900)),
    new Set(['b']),
  );
});
