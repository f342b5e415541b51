// Where code refers to steps, as the page of a workflow finds it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { referencesIn, withOtherName } from '../../../dashboard/src/workflows/steps/references.ts';

const found = (code: string): string[] =>
  referencesIn(code).map(({ name, line, isSure }) => `${line} ${name}${isSure ? '' : '?'}`);

test('members of steps are references, texts and comments are none', () => {
  const code = `// steps.comment
export default ({ steps, $ }) => {
  const a = steps.price.$return_value + steps?.tax + steps["odd"].x + steps!.cost + (steps as any).cast;
  const text = 'steps.text' + \`\${steps.inner}\`;
  return steps[a] ?? order.steps.price ?? mysteps.price ?? steps.trigger.event;
};
`;
  const names = ['price', 'tax', 'odd', 'cost', 'cast'].map((name) => `3 ${name}`);
  assert.deepEqual(found(code), [...names, '4 inner', '5 price?', '5 trigger']);
  assert.equal(referencesIn(code)[5]?.text, code.split('\n')[3]?.trim());
});

test('what is taken out of steps is a reference', () => {
  assert.deepEqual(found('const { price, tax: t, cost: { x } = {}, ...rest } = steps;'), [
    '1 price',
    '1 tax',
    '1 cost',
  ]);
  assert.deepEqual(found('export default ({ steps: { price } }) => price;'), ['1 price']);
  assert.deepEqual(found('let price; ({ price } = steps);'), ['1 price']);
  assert.deepEqual(found('const { steps: { price } } = order;'), ['1 price?']);
  assert.deepEqual(found('const { price } = order;'), []);
});

test('a name is changed where it is one of a step', () => {
  for (const [before, after] of [
    ['steps.price.x + steps.price + prices', 'steps.cost.x + steps.cost + prices'],
    ['const { price } = steps; use(price);', 'const { cost: price } = steps; use(price);'],
    ['const { price: p = 1, tax } = steps;', 'const { cost: p = 1, tax } = steps;'],
    [`steps['price']; steps?.price`, `steps['cost']; steps?.cost`],
    ['run({ steps: { price } }) {}', 'run({ steps: { price } }) {}'],
    ['export default ({ steps: { price } }) => price;', 'export default ({ steps: { cost: price } }) => price;'],
    ["'steps.price' // steps.price", "'steps.price' // steps.price"],
    ['other.steps.price', 'other.steps.price'],
    // Something else is called steps, or the code cannot be read.
    ['for (const steps of all) steps.price;', 'for (const steps of all) steps.price;'],
    ['const f = (steps) => steps.price;', 'const f = (steps) => steps.price;'],
    ['const { steps } = context; steps.price;', 'const { steps } = context; steps.cost;'],
    ['steps.price; const = ;', 'steps.price; const = ;'],
  ] as const) {
    assert.equal(withOtherName(before, 'price', 'cost'), after);
  }
});
