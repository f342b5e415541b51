// Which of the waiting runs begins: bounds and fairness, over random operations.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countByOwner, isAwake } from '../../../../src/runner/pool/fair-slots.ts';
import { apply, isStaying, OPS, TestPool } from './slots-kit.ts';

test('no owner waits while another has two more', () => {
  fc.assert(
    fc.property(OPS, (ops) => {
      using pool = new TestPool();
      for (const op of ops) {
        apply(pool, op);
        const awake = pool.all.filter(isAwake);
        const has = countByOwner(awake);
        const staying = countByOwner(awake.filter(isStaying));
        for (const owner of pool.waitingOwners()) {
          // Runs whose own process is about to pause wait for that one alone.
          const needed = [...pool.waiting].filter(({ request: { deployment }, key }) => {
            const own = pool.all.find((one) => one.options.key === key && !one.isDraining && one.inFlight > 0);
            return deployment.ownerId === owner && own === undefined;
          });
          if (needed.length === 0) continue;
          assert.ok(awake.length >= 4, `${owner} waits, and the CPU is free`);
          assert.ok((has.get(owner) ?? 0) > 0, `${owner} has none, and waits`);
          for (const [other, count] of staying) {
            assert.ok(
              other === owner || count <= (has.get(owner) ?? 0) + 1,
              `${owner} waits, and ${other} has ${count}`,
            );
          }
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('working processes and all processes are bounded', () => {
  fc.assert(
    fc.property(OPS, fc.integer({ min: 1, max: 40 }), (ops, maxProcesses) => {
      const maxAwake = Math.min(4, maxProcesses);
      using pool = new TestPool({ maxProcesses, maxAwake });
      for (const op of ops.filter(({ kind }) => kind !== 'sleep')) {
        apply(pool, op);
        const staying = pool.all.filter((one) => one.inFlight > 0 && isStaying(one));
        const owners = new Set(staying.map(({ ownerId }) => ownerId)).size;
        assert.ok(staying.length <= Math.max(maxAwake, owners), `${staying.length} of ${owners} work`);
        assert.ok(pool.most <= maxProcesses, `${pool.most} of ${maxProcesses}`);
      }
    }),
    { numRuns: 300 },
  );
});

test('an owner without a process waits only for slots', () => {
  fc.assert(
    fc.property(OPS, fc.integer({ min: 1, max: 12 }), (ops, maxProcesses) => {
      using pool = new TestPool({ maxProcesses, maxAwake: Math.min(4, maxProcesses) });
      for (const op of ops) {
        apply(pool, op);
        for (const owner of pool.waitingOwners()) {
          if (pool.all.some(({ ownerId, inFlight }) => ownerId === owner && inFlight > 0)) continue;
          assert.equal(pool.all.filter(({ inFlight }) => inFlight > 0).length, maxProcesses, `${owner} waits`);
          const most = Math.max(...countByOwner(pool.all.filter(isStaying)).values());
          assert.ok(most < 2 || pool.all.some(({ isDraining }) => isDraining), 'no process makes room');
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('every waiting run begins in the end', () => {
  fc.assert(
    fc.property(OPS, fc.integer({ min: 1, max: 6 }), (ops, maxProcesses) => {
      using pool = new TestPool({ maxProcesses, maxAwake: Math.min(3, maxProcesses) });
      for (const op of ops) apply(pool, op);
      for (let round = 0; pool.waiting.size > 0; round++) {
        assert.ok(round < 1000, `${pool.waiting.size} wait for ever`);
        for (const one of pool.all) one.end();
        pool.settle();
        pool.slots.serve();
        pool.settle();
      }
    }),
    { numRuns: 200 },
  );
});

test('a quota of processes is never exceeded', () => {
  fc.assert(
    fc.property(OPS, (ops) => {
      using pool = new TestPool();
      pool.quotas.set('a', { processes: 2, cpuSecondsPerMinute: null, isFull: false });
      for (const op of ops) {
        apply(pool, op);
        assert.ok(pool.all.filter(({ ownerId }) => ownerId === 'a').length <= 2);
      }
    }),
  );
});
