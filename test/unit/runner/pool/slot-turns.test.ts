// How processes start, share the CPU, take turns and are kept warm.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countByOwner, idleInOrder, isAwake } from '../../../../src/runner/pool/fair-slots.ts';
import { RETURNED } from '../../../../src/runner/process/run-in-flight.ts';
import { isStaying, TestPool } from './slots-kit.ts';

test('few processes start at a time, and one of each owner', () => {
  using pool = new TestPool({ maxAwake: 16, maxLoading: 2 });
  pool.areLoading = true;
  for (let n = 0; n < 10; n++) pool.run('a', n);
  pool.settle();
  assert.equal(pool.all.length, 2);
  for (const owner of ['b', 'c']) for (let n = 0; n < 3; n++) pool.run(owner, n);
  pool.settle();
  assert.deepEqual(Object.fromEntries(countByOwner(pool.all)), { a: 2, b: 1, c: 1 });
  // What is stuck before it has loaded its code holds up no other.
  for (const one of pool.all) one.isAsleep = true;
  pool.slots.serve();
  assert.ok(pool.all.length > 4);
  for (let left = 20; left > 0; left--) {
    for (const one of pool.all) one.isLoading = false;
    pool.slots.serve();
  }
  pool.settle();
  assert.equal(pool.waiting.size, 0);
});

test('sleeping runs delay no other', () => {
  using pool = new TestPool();
  for (let n = 0; n < 24; n++) {
    pool.run('a', n);
    pool.settle();
    for (const one of pool.all) one.isAsleep = one.inFlight > 0;
  }
  assert.equal(pool.all.length, 24);
  pool.run('b', 1);
  pool.settle();
  assert.equal(pool.waiting.size, 0);
});

test('an owner alone has the whole CPU, and gives half away', () => {
  using pool = new TestPool({ turnMs: 1000 });
  for (let n = 0; n < 10; n++) pool.run('a', n);
  pool.settle();
  const working = () => Object.fromEntries(countByOwner(pool.all.filter((one) => isAwake(one) && isStaying(one))));
  assert.deepEqual(working(), { a: 4 });
  for (let n = 0; n < 10; n++) pool.run('b', n);
  pool.settle();
  assert.deepEqual(working(), { a: 2, b: 2 });
  // Those that gave way work on until their runs have ended, and then there are no more than there should be.
  assert.equal(pool.all.filter(isAwake).length, 6);
  for (const one of pool.all.filter(({ isYielding }) => isYielding)) one.end();
  pool.settle();
  assert.deepEqual([pool.all.filter(isAwake).length, working()], [4, { a: 2, b: 2 }]);
});

test('warm processes run again without a start', () => {
  using pool = new TestPool();
  for (let round = 0; round < 30; round++) {
    for (let n = 0; n < 100; n++) {
      pool.run('a', n);
      pool.settle();
      for (const one of pool.all) if (one.inFlight > 0) one.end();
    }
  }
  assert.equal(pool.started, 100);
});

test('busy processes take turns, and none is started twice', () => {
  using pool = new TestPool({ turnMs: 1000 });
  const served = new Map<string, number>();
  for (let n = 0; n < 24; n++) pool.run('a', n);
  for (let round = 0; round < 200; round++) {
    pool.settle();
    // Each has a next run at once, as a long queue has.
    for (const one of pool.all.filter(({ inFlight }) => inFlight > 0)) {
      served.set(one.options.key, (served.get(one.options.key) ?? 0) + 1);
      const n = Number(one.options.key.split('_').at(-1));
      if (!one.isYielding) pool.run('a', n);
      const [first] = one.runs;
      if (first) {
        one.runs.delete(first);
        if (one.runs.size === 0) {
          one.runs.add(first);
          one.end();
          pool.run('a', n);
        } else first.end(RETURNED);
      }
    }
    pool.nowMs += 300;
    pool.slots.serve();
  }
  assert.equal(served.size, 24, 'all were served');
  assert.equal(pool.started, 24);
});

test('memory bounds the warm processes, least recently used first', () => {
  // Room for ten, of which five belong to each of two owners.
  using pool = new TestPool({ poolMb: 200 });
  const run = (owner: string, n: number) => {
    pool.run(owner, n);
    pool.settle();
    for (const one of pool.all) if (one.inFlight > 0) one.end();
    pool.settle();
  };
  for (let n = 0; n < 10; n++) run('a', n);
  run('a', 0);
  assert.equal(pool.started, 10);
  run('a', 10);
  const keys = pool.all.map(({ options }) => options.key);
  assert.ok(keys.includes('d_a_0') && !keys.includes('d_a_1'), 'the least recently used has gone');
  assert.equal(pool.all.length, 10);
});

test('an owner with many processes gives up its own first', () => {
  using pool = new TestPool({ maxProcesses: 10, maxAwake: 4 });
  const run = (owner: string, n: number) => {
    pool.run(owner, n);
    pool.settle();
    for (const one of pool.all) if (one.inFlight > 0) one.end();
    pool.settle();
  };
  run('b', 1);
  for (let round = 0; round < 3; round++) for (let n = 0; n < 30; n++) run('a', n);
  const before = pool.started;
  run('b', 1);
  assert.equal(pool.started, before, "b's only process is as old as can be, and still there");
  assert.equal(idleInOrder(pool.all, 10)[0]?.ownerId, 'a');
});
