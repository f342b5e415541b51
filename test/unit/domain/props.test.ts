// Which value stands for a prop, and what the code gets of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeValue, givenValue, mergedDefinitions, type PropDefinition } from '../../../src/domain/props.ts';

type Case = readonly [definition: PropDefinition, configured: unknown, value: unknown];

const CITY = { label: 'Oslo', value: 'osl' };

test('configured comes before default, static before both', () => {
  const cases: Case[] = [
    [{ type: 'string' }, 'a', 'a'],
    [{ type: 'string' }, undefined, undefined],
    [{ type: 'string', default: 'd' }, undefined, 'd'],
    [{ type: 'string', default: 'd' }, null, 'd'],
    [{ type: 'string', default: 'd' }, '', ''],
    [{ type: 'boolean', default: true }, false, false],
    [{ type: 'integer', default: 7 }, 0, 0],
    [{ type: 'string', default: null }, undefined, undefined],
    [{ type: 'string', static: 's', default: 'd' }, 'a', 's'],
    [{ type: 'string', disabled: true, default: 'd' }, 'a', undefined],
    [{ type: 'string', hidden: true, default: 'd' }, 'a', 'a'],
  ];
  for (const [definition, configured, value] of cases) {
    assert.deepEqual(givenValue(definition, configured), value, JSON.stringify([definition, configured]));
  }
});

test('a chosen value loses its label unless asked', () => {
  const cases: Case[] = [
    [{ type: 'string' }, { __lv: CITY }, 'osl'],
    [{ type: 'string[]' }, { __lv: [CITY, { label: 'Rome', value: 'rom' }] }, ['osl', 'rom']],
    [{ type: 'string[]' }, [{ __lv: CITY }, 'rom'], ['osl', 'rom']],
    [{ type: 'string' }, { __lv: 'osl' }, 'osl'],
    [{ type: 'string', withLabel: true }, { __lv: CITY }, CITY],
    [{ type: 'string', withLabel: true }, 'osl', { label: 'osl', value: 'osl' }],
    [{ type: 'string', withLabel: true, default: { __lv: CITY } }, undefined, CITY],
    [{ type: 'string', withLabel: true, default: 'osl' }, undefined, { label: 'osl', value: 'osl' }],
    [{ type: 'string[]', withLabel: true }, { __lv: [CITY] }, [CITY]],
    [{ type: 'string[]', withLabel: true }, ['osl'], [{ label: 'osl', value: 'osl' }]],
    [{ type: 'integer', withLabel: true }, { __lv: { label: 'ten', value: '10' } }, { label: 'ten', value: 10 }],
  ];
  for (const [definition, configured, value] of cases) {
    assert.deepEqual(codeValue(definition, configured), value, JSON.stringify([definition, configured]));
  }
});

test('digits are an integer, and nothing else is', () => {
  const cases: Case[] = [
    [{ type: 'integer' }, '10', 10],
    [{ type: 'integer' }, ' -3 ', -3],
    [{ type: 'integer' }, '1.5', '1.5'],
    [{ type: 'integer' }, '0x10', '0x10'],
    [{ type: 'integer' }, '', ''],
    [{ type: 'integer[]' }, ['1', 2], [1, 2]],
    [{ type: 'string' }, '10', '10'],
    [{ type: 'any' }, '10', '10'],
  ];
  for (const [definition, configured, value] of cases) {
    assert.deepEqual(codeValue(definition, configured), value, JSON.stringify([definition, configured]));
  }
});

test('additional props change what they name', () => {
  const own = { a: { type: 'string', label: 'A' }, b: { type: 'integer' } };
  const additional = JSON.parse('{"a": {"hidden": true}, "c": {"type": "any"}, "__proto__": {"type": "string"}}');
  const merged = mergedDefinitions(own, additional);
  assert.deepEqual(Object.keys(merged), ['a', 'b', 'c', '__proto__']);
  assert.deepEqual(merged.a, { type: 'string', label: 'A', hidden: true });
  assert.deepEqual(own.a, { type: 'string', label: 'A' });
});
