// Whether a node on Postgres judges others, by what its own beat met.

import { equal, rejects } from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LIMITS } from '../../../src/domain/limits.ts';
import { Node } from '../../../src/store/postgres/claims/node.ts';
import { DatabaseClock } from '../../../src/store/postgres/connection/clock.ts';
import type { Pool } from '../../../src/store/postgres/connection/pool.ts';
import { START_MS, TestClock } from '../../contract/fixtures.ts';

/** A node whose database answers a beat after so long, by a clock that the test moves. */
function create(t: TestContext) {
  let ms = 1000;
  t.mock.method(performance, 'now', () => ms);
  const answer = { afterMs: 1, isThere: true };
  const write = async (): Promise<object[]> => {
    ms += answer.afterMs;
    if (!answer.isThere) throw new Error('the database is away');
    return [{ beat_at_ms: START_MS }];
  };
  const pool = { write } as unknown as Pool;
  const node = new Node({ pool, clock: new DatabaseClock(new TestClock()), name: 'node', version: 'test' });
  const pass = (by: number): void => {
    ms += by;
  };
  return { node, answer, pass };
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
