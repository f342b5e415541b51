// What the lists of the dashboard say of a group.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf, stepOf } from '../../../dashboard/src/errors/fingerprint.ts';
import { OTHER_ERRORS } from '../../../src/domain/errors/fingerprint.ts';

test('a group without a message says so', () => {
  const { version } = OTHER_ERRORS;
  const group = { version, namespace: 'check', code: 'Bad', template: '', frame: '' };
  assert.deepEqual([messageOf(group), stepOf(group)], ['(no message)', 'in check']);
});

test('the group of errors that fit no other does not pass for one without a message', () => {
  assert.deepEqual(
    [messageOf(OTHER_ERRORS), stepOf(OTHER_ERRORS)],
    ['Different errors, which have no group of their own', 'any step'],
  );
});

test('a message that is different each time is said to be', () => {
  const { version } = OTHER_ERRORS;
  const of = (template: string): string => messageOf({ version, namespace: 'check', code: 'Bad', template, frame: '' });
  for (const template of ['{}', '{n}', '{id}: {n}, {}'])
    assert.equal(of(template), `a different message each time: ${template}`);
  for (const template of ['order {n}', '注文 {n}', 'no card']) assert.equal(of(template), template);
});
