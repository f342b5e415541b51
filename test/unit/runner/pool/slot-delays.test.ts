// Why runs wait although there is a slot: restarts, large results, and the CPU quota.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START_CPU_MS } from '../../../../src/runner/pool/cpu.ts';
import { type FakeProcess, TestPool } from './slots-kit.ts';

/** Ends a process early, with the run in it. */
function die(pool: TestPool, one: FakeProcess | undefined): void {
  assert.ok(one);
  pool.slots.endedEarly(one);
  one.isDraining = true;
  one.end();
  pool.settle();
}

test('code whose processes keep ending is restarted later', () => {
  using pool = new TestPool();
  for (let n = 0; n < 3; n++) {
    pool.run('a', 1);
    die(pool, pool.all[0]);
  }
  const [waits, other] = [pool.run('a', 1), pool.run('a', 2)];
  pool.settle();
  assert.deepEqual([...pool.waiting], [waits], 'only that code');
  assert.ok(pool.slots.processOf(other));
  assert.ok(pool.slots.processOf(pool.run('a', 1, true)), 'a run alone in its process starts at once');
  pool.nowMs += 200;
  pool.slots.serve();
  pool.settle();
  assert.equal(pool.waiting.size, 0);
  die(pool, pool.slots.processOf(waits));
  const longer = pool.run('a', 1);
  pool.nowMs += 100;
  pool.slots.serve();
  assert.equal(pool.slots.processOf(longer), undefined, 'for twice as long');
  pool.hasOtherOwners = false;
  pool.slots.serve();
  assert.ok(pool.slots.processOf(longer), 'no other owner is active');
});

test('runs wait while large results of their owner wait', () => {
  using pool = new TestPool();
  pool.run('a', 1);
  pool.behind.add('a');
  const [same, other, free] = [pool.run('a', 1), pool.run('a', 2), pool.run('b', 1)];
  pool.settle();
  assert.deepEqual([...pool.waiting], [same, other]);
  assert.ok(pool.slots.processOf(free));
  pool.behind.clear();
  pool.slots.serve();
  pool.settle();
  assert.equal(pool.waiting.size, 0);
});

test('runs wait while their owner is over its CPU quota', () => {
  using pool = new TestPool();
  pool.quotas.set('a', { processes: null, cpuSecondsPerMinute: 6, isFull: false });
  pool.run('a', 1);
  pool.cpuUse.add('a', 5999 - START_CPU_MS, pool.nowMs);
  pool.run('a', 1);
  assert.equal(pool.all[0]?.inFlight, 2);
  pool.cpuUse.add('a', 1, pool.nowMs);
  const [same, other, free] = [pool.run('a', 1), pool.run('a', 2), pool.run('b', 1)];
  pool.settle();
  assert.deepEqual([...pool.waiting], [same, other]);
  assert.ok(pool.slots.processOf(free));
  pool.nowMs += 61_000;
  pool.slots.serve();
  pool.settle();
  assert.equal(pool.waiting.size, 0);
});
