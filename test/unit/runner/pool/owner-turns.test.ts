import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OwnerTurns } from '../../../../src/runner/pool/owner-turns.ts';

/** Begins tasks, and tells in which order they began. */
function started(places: number) {
  const turns = new OwnerTurns(places);
  const begun: string[] = [];
  const begin = (ownerId: string, name: string): void => void turns.begin(ownerId).then(() => begun.push(name));
  const end = async (ownerId: string): Promise<void> => {
    turns.end(ownerId);
    await new Promise(setImmediate);
  };
  return { begun, begin, end, settled: () => new Promise(setImmediate) };
}

test('so many begin at a time, in their order', async () => {
  const { begun, begin, end, settled } = started(2);
  for (const name of ['a', 'b', 'c', 'd']) begin('u_1', name);
  await settled();
  assert.deepEqual(begun, ['a', 'b']);
  await end('u_1');
  assert.deepEqual(begun, ['a', 'b', 'c']);
  await end('u_1');
  await end('u_1');
  await end('u_1');
  begin('u_2', 'e');
  begin('u_2', 'f');
  begin('u_2', 'g');
  await settled();
  assert.deepEqual(begun, ['a', 'b', 'c', 'd', 'e', 'f']);
});

test('the owner with the fewest is next', async () => {
  const { begun, begin, end } = started(2);
  for (const name of ['a', 'b', 'c', 'd', 'e']) begin('u_1', name);
  for (const name of ['x', 'y']) begin('u_2', name);
  await end('u_1');
  assert.deepEqual(begun, ['a', 'b', 'x']);
  await end('u_2');
  assert.deepEqual(begun, ['a', 'b', 'x', 'y']);
  await end('u_1');
  assert.deepEqual(begun, ['a', 'b', 'x', 'y', 'c']);
});
