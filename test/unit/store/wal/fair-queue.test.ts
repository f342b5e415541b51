// Large writes beside small ones. How many small ones share a commit: batch.test.ts.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from '../../../../src/store/log/fair-queue.ts';

const KB = 1024;
const MOST = 1024;

/** All batches, until nothing waits. */
function batches(queue: FairQueue<string>): string[][] {
  const all: string[][] = [];
  while (queue.size > 0) all.push([...queue.next(MOST)]);
  return all;
}

test('a large write comes behind the small ones, alone', () => {
  const queue = new FairQueue<string>(64);
  queue.push('large', 'a', 5000 * KB);
  for (const name of ['small 1', 'small 2']) queue.push(name, name);
  deepEqual(batches(queue), [['small 1', 'small 2'], ['large']]);
});

test('between two large writes others have a batch', () => {
  const queue = new FairQueue<string>(64);
  for (const name of ['large 1', 'large 2', 'large 3']) queue.push(name, name, 300 * KB);
  queue.push('small 1', 'b');
  deepEqual([...queue.next(MOST)], ['small 1']);
  queue.push('small 2', 'b');
  deepEqual([...queue.next(MOST)], ['large 1']);
  deepEqual([...queue.next(MOST)], ['small 2']);
  for (let n = 0; n < 9; n++) queue.push('small 3', 'b');
  deepEqual([...queue.next(MOST)], ['large 2'], 'however many small ones come');
  deepEqual(batches(queue), [Array(9).fill('small 3'), ['large 3']]);
});

test('nothing overtakes a large write within its flow', () => {
  const queue = new FairQueue<string>(64);
  queue.push('first', 'a');
  queue.push('large', 'a', 300 * KB);
  queue.push('last', 'a');
  deepEqual(batches(queue), [['first'], ['large'], ['last']]);
  equal(queue.size, 0);
});

test('a batch ends when it has much to write', () => {
  const queue = new FairQueue<string>(64);
  for (let n = 0; n < 10; n++) queue.push(`flow ${n}`, `flow ${n}`, 200 * KB);
  deepEqual(
    batches(queue).map(({ length }) => length),
    [6, 4],
  );
});
