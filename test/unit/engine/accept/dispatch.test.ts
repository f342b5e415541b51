// What the store has leased is started in the order in which it was queued.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dispatch } from '../../../../src/engine/accept/dispatch.ts';
import type { Claims } from '../../../../src/store/contract/store.ts';

function connected() {
  const started: number[] = [];
  const dispatch = new Dispatch({ notify: () => undefined, subscribe: () => undefined } as never);
  dispatch.connect({ run: ({ run }) => void started.push(run), delivery: () => undefined });
  const take = (...runs: number[]): void =>
    dispatch.take({ runs: runs.map((run) => ({ run })), deliveries: [] } as unknown as Claims);
  return { dispatch, take, started };
}

/** Calls `then` behind so many promises. */
async function behind(promises: number, then: () => void): Promise<void> {
  for (let i = 0; i < promises; i++) await undefined;
  then();
}

test('runs that are taken in one turn begin in their order, however many promises were before them', async () => {
  const { take, started } = connected();
  await Promise.all([behind(1, () => take(34, 35)), behind(9, () => take(32)), behind(30, () => take(33))]);
  await new Promise(setImmediate);
  assert.deepEqual(started, [32, 33, 34, 35]);
});

test('what is taken is started before a stop looks at what is under way', async () => {
  const { dispatch, take, started } = connected();
  take(2, 1);
  assert.deepEqual(started, []);
  dispatch.startRuns();
  assert.deepEqual(started, [1, 2]);
  await new Promise(setImmediate);
  assert.deepEqual(started, [1, 2], 'and once');
});
