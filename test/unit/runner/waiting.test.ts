import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Flight } from '../../../src/runner/flight.ts';
import { Waiting } from '../../../src/runner/waiting.ts';
import { requestOf } from './kit.ts';

const flight = (id: string, alone = false): Flight =>
  new Flight(requestOf({ id, ownerId: 'u_1', runnableId: 'p_1', steps: [], createdAtMs: 0 }, { alone }), 0, () => {});

test('those of one deployment leave together, in order', () => {
  const waiting = new Waiting();
  const [a1, b1, a2, alone1, alone2] = [flight('a'), flight('b'), flight('a'), flight('a', true), flight('a', true)];
  for (const one of [a1, b1, a2, alone1, alone2]) waiting.add(one);
  assert.equal(waiting.processes, 4);
  assert.deepEqual(
    [waiting.take(), waiting.take(), waiting.take(), waiting.take(), waiting.take()],
    [[a1, a2], [b1], [alone1], [alone2], []],
  );
});

test('a removed run waits no more', () => {
  const waiting = new Waiting();
  const [a1, a2] = [flight('a'), flight('a')];
  waiting.add(a1);
  waiting.add(a2);
  assert.deepEqual([waiting.remove(a1), waiting.remove(a1), waiting.processes], [true, false, 1]);
  assert.deepEqual([waiting.remove(a2), waiting.processes, waiting.take()], [true, 0, []]);
});
