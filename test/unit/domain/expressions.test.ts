import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasExpression, partsOf } from '../../../src/domain/expressions.ts';

test('text is split at its expressions', () => {
  const [a, b] = [{ expression: 'steps.trigger.event.a' }, { expression: 'process.env.B' }];
  assert.deepEqual(partsOf('{{steps.trigger.event.a}}'), [a]);
  assert.deepEqual(partsOf('x {{ steps.trigger.event.a }}, {{process.env.B}}!'), ['x ', a, ', ', b, '!']);
  assert.deepEqual(partsOf('{{name}} {{steps.trigger.event.a}}'), ['{{name}} ', a]);
  assert.deepEqual(partsOf('{"a":{{steps.trigger.event.a}}}'), ['{"a":', a, '}']);
  assert.deepEqual(partsOf('{{ {{steps.trigger.event.a}} }}'), ['{{ ', a, ' }}']);
  assert.deepEqual(partsOf('{{JSON.stringify(steps["a"]?.b)}}'), [{ expression: 'JSON.stringify(steps["a"]?.b)' }]);
});

test('braces that name no run are text', () => {
  const texts = [
    '',
    'steps.a',
    '{{name}}',
    '{{ steps }}',
    '{{mysteps.a}}',
    '{{this.steps.a}}',
    '{{#each steps.list}}',
    '{{"steps.a"}}',
    '{{steps.a',
    'steps.a}}',
  ];
  for (const text of texts) assert.equal(partsOf(text), null, text);
  for (const value of [null, 5, ['{{steps.a}}']]) assert.equal(hasExpression(value), false);
});
