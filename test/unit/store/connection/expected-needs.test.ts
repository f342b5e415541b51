// What a batch on Postgres expects to need, from what verbs of the same kinds have needed before.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { type Expected, ExpectedNeeds, Seen } from '../../../../src/store/postgres/log/expected-needs.ts';

function seen(queues: readonly string[], digestWindowMs: number | null = null): Seen {
  const made = new Seen();
  made.owners.add('u_1');
  for (const listenerId of queues) made.queues.set(`u_1 ${listenerId}`, { ownerId: 'u_1', listenerId, isRun: true });
  made.digestWindowMs = digestWindowMs;
  return made;
}

const queuesOf = ({ queues }: Expected): string[] => [...queues.keys()];
const DIGESTS = [{ ownerId: 'u_1', digestKey: 'k' }];

test('a batch expects what all of its kinds have needed', () => {
  const needs = new ExpectedNeeds();
  needs.note({ kind: 'a' }, seen(['p_1']));
  needs.note({ kind: 'a' }, seen(['p_2']));
  needs.note({ kind: 'b' }, seen(['p_3']));
  const expected = needs.of([{ kind: 'a' }, { kind: 'b' }, { kind: 'a' }]);
  deepEqual(queuesOf(expected), ['u_1 p_1', 'u_1 p_2', 'u_1 p_3']);
  deepEqual([...expected.owners], ['u_1']);
});

test('a batch with a verb of no known kind expects no queues, but owners', () => {
  const needs = new ExpectedNeeds();
  needs.note({ kind: 'a' }, seen(['p_1'], 5));
  needs.note({}, seen(['p_1']));
  for (const other of [{ kind: 'new' }, { kind: null }, {}]) {
    const expected = needs.of([{ kind: 'a', digests: DIGESTS }, other]);
    deepEqual([expected.queues.size, expected.digests.size, expected.owners.size], [0, 0, 1]);
  }
});

test('a kind that has needed many queues is not guessed', () => {
  const needs = new ExpectedNeeds();
  for (let n = 0; n < 8; n++) needs.note({ kind: 'a' }, seen([`p_${n}`]));
  equal(needs.of([{ kind: 'a' }]).queues.size, 8);
  needs.note({ kind: 'a' }, seen(['p_8']));
  equal(needs.of([{ kind: 'a' }]).queues.size, 0);
});

test('digests are expected of verbs that name theirs', () => {
  const needs = new ExpectedNeeds();
  needs.note({ kind: 'a' }, seen(['p_1'], 5));
  deepEqual([...needs.of([{ kind: 'a', digests: DIGESTS }]).digests.values()], [{ ...DIGESTS[0], windowMs: 5 }]);
  equal(needs.of([{ kind: 'a' }]).queues.size, 0);
  // Another window, and then a verb that looked at none.
  needs.note({ kind: 'a' }, seen(['p_1'], 7));
  needs.note({ kind: 'a' }, seen(['p_1']));
  deepEqual([...needs.of([{ kind: 'a', digests: DIGESTS }]).digests.values()], [{ ...DIGESTS[0], windowMs: 7 }]);
});

test('what a kind has needed is forgotten', () => {
  const needs = new ExpectedNeeds();
  needs.note({ kind: 'a' }, seen(['p_1']));
  needs.forget([{ kind: 'a' }, {}]);
  equal(needs.of([{ kind: 'a' }]).owners.size, 0);
});
