// When several owners count as active.

import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { ActiveOwners } from '../../../../src/store/sqlite/log/active-owners.ts';

test('one owner alone is not several, however often it calls', () => {
  const owners = new ActiveOwners(() => 0);
  equal(owners.areSeveral, false);
  for (let n = 0; n < 3; n++) owners.seen('o_1');
  equal(owners.areSeveral, false);
});

test('owners are several for a while behind each change from one to another', () => {
  let nowMs = 0;
  const owners = new ActiveOwners(() => nowMs);
  owners.seen('o_1');
  owners.seen('o_2');
  nowMs = 249;
  equal(owners.areSeveral, true);
  owners.seen('o_2');
  nowMs = 250;
  equal(owners.areSeveral, false, 'the second has called alone since');
  owners.seen('o_1');
  nowMs = 499;
  equal(owners.areSeveral, true);
});
