// Whose queued run is claimed next, over several small claims.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { OwnerRoundRobin } from '../../../src/store/log/owner-round-robin.ts';

const item = (name: string) => ({ ownerId: name.slice(0, 1), name });

/** Who is served by a claim of so many. */
function claim(turns: OwnerRoundRobin, items: readonly string[], limit: number): string[] {
  const served: string[] = [];
  turns.goRound(items.map(item), ({ name }) => served.length < limit && served.push(name) > 0);
  return served;
}

test('owners take turns, and in them their items', () => {
  deepEqual(claim(new OwnerRoundRobin(), ['a1', 'a2', 'a3', 'b1'], 7), ['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1']);
});

test('claims of one serve one owner after the other', () => {
  const turns = new OwnerRoundRobin();
  const all = ['a1', 'a2', 'a3', 'b1', 'c1'];
  const served = Array.from({ length: 6 }, () => claim(turns, all, 1).join());
  deepEqual(
    served.map((name) => name.slice(0, 1)),
    ['a', 'b', 'c', 'a', 'b', 'c'],
  );
});

test('an owner that comes later is served first', () => {
  const turns = new OwnerRoundRobin();
  claim(turns, ['a1', 'b1'], 2);
  deepEqual(claim(turns, ['a1', 'b1', 'c1'], 2), ['c1', 'a1']);
});

test('an item that takes no turn gets none again', () => {
  const asked: string[] = [];
  new OwnerRoundRobin().goRound(['a1', 'a2', 'b1'].map(item), ({ name }) => {
    asked.push(name);
    return name === 'a2' && asked.length < 6;
  });
  deepEqual(asked, ['a1', 'a2', 'b1', 'a2', 'a2', 'a2']);
  equal(claim(new OwnerRoundRobin(), [], 3).length, 0);
});
