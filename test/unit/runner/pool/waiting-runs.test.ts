import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitingRuns } from '../../../../src/runner/pool/waiting-runs.ts';
import { RunInFlight } from '../../../../src/runner/process/run-in-flight.ts';
import { requestOf } from '../kit.ts';

const run = (id: string, alone = false, ownerId = 'u_1'): RunInFlight =>
  new RunInFlight(requestOf({ id, ownerId, runnableId: 'p_1', steps: [], createdAtMs: 0 }, { alone }), 0, () => {});

function takeFirst(waiting: WaitingRuns): readonly RunInFlight[] {
  const [owner = ''] = waiting.owners;
  const [group] = waiting.groupsOf(owner);
  return group ? waiting.take(group) : [];
}

test('those of one deployment leave together, in order', () => {
  const waiting = new WaitingRuns();
  const [a1, b1, a2, alone1, alone2] = [run('a'), run('b'), run('a'), run('a', true), run('a', true)];
  for (const one of [a1, b1, a2, alone1, alone2]) waiting.add(one);
  assert.equal(waiting.processes, 4);
  const taken = [1, 2, 3, 4, 5].map(() => takeFirst(waiting));
  assert.deepEqual(taken, [[a1, a2], [b1], [alone1], [alone2], []]);
  assert.deepEqual([waiting.processes, waiting.owners], [0, []]);
});

test('a removed run waits no more', () => {
  const waiting = new WaitingRuns();
  const [a1, a2] = [run('a'), run('a')];
  waiting.add(a1);
  waiting.add(a2);
  assert.deepEqual([waiting.remove(a1), waiting.remove(a1), waiting.processes], [true, false, 1]);
  assert.deepEqual([waiting.remove(a2), waiting.processes, takeFirst(waiting)], [true, 0, []]);
});

test('owners come in turn', () => {
  const waiting = new WaitingRuns();
  const [a, b, c, d] = [run('a'), run('b'), run('c'), run('d', false, 'u_2')];
  for (const one of [a, b, c, d]) waiting.add(one);
  assert.deepEqual(
    [takeFirst(waiting), takeFirst(waiting), takeFirst(waiting), takeFirst(waiting)],
    [[a], [d], [b], [c]],
  );
  for (const one of [a, d]) waiting.add(one);
  assert.deepEqual(waiting.takeAll(), [a, d]);
  assert.equal(waiting.processes, 0);
});
