// Names of imported steps.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renamesOf } from '../../../src/cli/import/step-names.ts';

test('only names with other characters change, and none is taken twice', () => {
  const names = [
    'getCatUrl',
    'get_cat_url',
    'parseHTML',
    '2nd',
    'a-b',
    'Trigger',
    'plain_1',
    'getCatUrl',
    'Ä',
    'x'.repeat(70),
  ];
  assert.deepEqual(
    [...renamesOf(names)],
    [
      ['getCatUrl', 'get_cat_url_2'],
      ['parseHTML', 'parse_html'],
      ['2nd', '_2nd'],
      ['a-b', 'a_b'],
      ['Trigger', 'trigger_2'],
      ['Ä', '_'],
      ['x'.repeat(70), 'x'.repeat(64)],
    ],
  );
});
