// Whether a node on Postgres judges others, by what its own beat met.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { readExpired } from '../../../src/store/postgres/claims/expired-leases.ts';
import { LONGEST_LEASE_MS } from '../../../src/store/postgres/claims/leases.ts';
import { Node } from '../../../src/store/postgres/claims/node.ts';
import { DatabaseClock } from '../../../src/store/postgres/connection/clock.ts';
import type { Pool } from '../../../src/store/postgres/connection/pool.ts';
import type { Tx } from '../../../src/store/postgres/connection/transaction-connection.ts';
import type { Core } from '../../../src/store/postgres/core.ts';
import { START_MS, TestClock } from '../../contract/fixtures.ts';

/** A node whose database answers a beat after so long, by a clock that the test moves. */
function create(t: TestContext, override: TestClock | null = new TestClock()) {
  let ms = 1000;
  t.mock.method(performance, 'now', () => ms);
  const answer = { afterMs: 1, isThere: true, atMs: START_MS };
  const write = async (): Promise<object[]> => {
    ms += answer.afterMs;
    if (!answer.isThere) throw new Error('the database is away');
    return [{ beat_at_ms: answer.atMs }];
  };
  const clock = new DatabaseClock(override);
  const pool = { write } as unknown as Pool;
  const node = new Node({ pool, clock, name: 'node', version: 'test' });
  const pass = (by: number): void => {
    ms += by;
  };
  return { node, clock, answer, pass };
}

test('a node whose beats are answered at once judges others', async (t) => {
  const { node } = create(t);
  equal(await node.beat(), true);
  equal(node.isSteady, true);
});

test('a node whose beat was held up judges nobody for the time of a lease', async (t) => {
  const { node, answer, pass } = create(t);
  answer.afterMs = LIMITS.nodeLeaseMs - 1;
  equal(await node.beat(), true);
  equal(node.isSteady, false);
  equal(node.lateBeforeMs(), 0);
  answer.afterMs = 1;
  await node.beat();
  equal(node.isSteady, false);
  pass(LIMITS.nodeLeaseMs + 1);
  equal(node.isSteady, true);
});

test('a node whose beat was not answered judges nobody for the time of a lease', async (t) => {
  const { node, answer, pass } = create(t);
  answer.isThere = false;
  await rejects(node.beat());
  equal(node.isSteady, false);
  pass(LIMITS.nodeLeaseMs + 1);
  equal(node.isSteady, true);
});

test('a node whose database was set forward judges nobody for the time of a lease', async (t) => {
  const { node, clock, answer, pass } = create(t, null);
  const beat = async (): Promise<void> => {
    pass(1000);
    answer.atMs += 1001;
    await node.beat();
  };
  await beat();
  await beat();
  equal(node.isSteady, true);
  answer.atMs += 3_600_000;
  await beat();
  equal(node.isSteady, false);
  equal(node.lateBeforeMs(), 0);
  pass(LIMITS.nodeLeaseMs + 1);
  equal(node.isSteady, true);
  const judged = async (): Promise<readonly unknown[]> => {
    const given: unknown[] = [];
    const tx = {
      query: async (statement: string, ...values: unknown[]) => {
        if (statement.startsWith('SELECT')) given.push(values[0] === 0 ? 'nothing' : 'leases');
        return [];
      },
    } as unknown as Tx;
    await readExpired({ node, clock } as unknown as Core, tx);
    return given;
  };
  deepEqual(await judged(), ['nothing', 'nothing']);
  pass(LONGEST_LEASE_MS);
  deepEqual(await judged(), ['leases', 'leases']);
});
