// How many messages of no run a process may send: what an honest one sends passes, and one more does not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageBudget } from '../../../../src/runner/process/message-budget.ts';

test('a process has loaded its code once', () => {
  const budget = new MessageBudget();
  budget.count('loaded', false);
  assert.throws(() => budget.count('loaded', false), /loaded its code before/);
});

for (const [kind, most, refused] of [
  ['stray', 100, /stray exceptions/],
  ['late', 100, /late calls/],
  ['log', 256, /messages of no run/],
  [undefined, 256, /messages of no run/],
] as const) {
  test(`messages of no run have their bound: ${kind}`, () => {
    const budget = new MessageBudget();
    for (let n = 0; n < most; n++) budget.count(kind, false);
    assert.throws(() => budget.count(kind, false), refused);
  });
}

test('messages of runs in flight have no such bound', () => {
  const budget = new MessageBudget();
  for (let n = 0; n < 1000; n++) budget.count('log', true);
  for (let n = 0; n < 256; n++) budget.count('log', false);
});
