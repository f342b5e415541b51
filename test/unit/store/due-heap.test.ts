// The heap of what comes later.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { DueHeap } from '../../../src/store/sqlite/log/due-heap.ts';
import { times } from '../../contract/fixtures.ts';

function emptied(later: DueHeap<string>): number[] {
  const taken: number[] = [];
  for (let first = later.first(); first; first = later.first()) {
    taken.push(first.atMs);
    later.shift();
  }
  return taken;
}

/** All numbers below `count`, each once, far from sorted. */
const mixed = (count: number): number[] => times(count, (i) => (i * 7919) % count);

test('what comes first is taken first', () => {
  const later = new DueHeap<string>();
  for (const atMs of [...mixed(1000), 5, 5, 999]) later.push({ atMs, item: `at ${atMs}` });
  equal(later.first()?.item, 'at 0');
  equal(later.size, 1003);
  deepEqual(
    emptied(later),
    [...mixed(1000), 5, 5, 999].sort((a, b) => a - b),
  );
});

test('what is swept out does not come', () => {
  const later = new DueHeap<string>();
  for (const atMs of mixed(100)) later.push({ atMs, item: '' });
  later.keep(({ atMs }) => atMs % 3 === 0);
  deepEqual(
    emptied(later),
    times(34, (i) => i * 3),
  );
});

test('an empty one has no first', () => {
  const later = new DueHeap<string>();
  later.shift();
  equal(later.first(), undefined);
});
