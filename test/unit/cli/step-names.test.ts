// Names of imported steps, and where their references are found.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renamesOf, valueWithNames, withNames } from '../../../src/cli/import/step-names.ts';

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

test('references follow the names, and nothing else does', () => {
  const renames = new Map([
    ['getCat', 'get_cat'],
    ['b', 'b_2'],
  ]);
  const texts: [string, string][] = [
    ['steps.getCat.$return_value + steps.getCats.x', 'steps.get_cat.$return_value + steps.getCats.x'],
    ['steps?.getCat?.x', 'steps?.get_cat?.x'],
    [`steps["getCat"].x, steps?.['getCat'], steps[\`b\`]`, `steps["get_cat"].x, steps?.['get_cat'], steps[\`b_2\`]`],
    ['const { getCat, b: other, c = 1 } = steps;', 'const { get_cat: getCat, b_2: other, c = 1 } = steps;'],
    ['const { getCat = {} } = steps;', 'const { getCat = {} } = steps;'],
    ['run({ steps: { getCat, trigger }, $ })', 'run({ steps: { get_cat: getCat, trigger }, $ })'],
    ['const { getCat } = steps.b;', 'const { getCat } = steps.b_2;'],
    ['mysteps.getCat, getCat(), { getCat }, this.getCat', 'mysteps.getCat, getCat(), { getCat }, this.getCat'],
    [
      '{{steps.getCat.$return_value}} and {{ steps.trigger.event.b }}',
      '{{steps.get_cat.$return_value}} and {{ steps.trigger.event.b }}',
    ],
  ];
  for (const [there, here] of texts) assert.equal(withNames(there, renames), here);
  assert.deepEqual(valueWithNames({ a: ['{{steps.b.x}}', 1, null], steps: { b: true } }, renames), {
    a: ['{{steps.b_2.x}}', 1, null],
    steps: { b: true },
  });
});
