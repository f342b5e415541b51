import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChangedStep, stepChanges } from '../../../../src/domain/steps/step-changes.ts';
import { freeName, whyNoName } from '../../../../src/domain/steps/step-name.ts';

const stepsOf = (names: string): ChangedStep[] =>
  [...names].map((namespace) => ({ namespace, code: `code of ${namespace}` }));

function changed(before: readonly ChangedStep[], after: readonly ChangedStep[]): string[] {
  return stepChanges(before, after).map(({ change, namespace, was }) => `${change} ${was ?? ''}${namespace}`);
}

test('steps that came, went and moved are told', () => {
  const cases: [string, string, string[]][] = [
    ['ab', 'ab', []],
    ['', 'ab', ['added a', 'added b']],
    ['ab', 'axb', ['added x']],
    ['abc', 'ac', ['removed b']],
    ['abc', 'bca', ['moved a']],
    ['abc', 'cab', ['moved c']],
    ['abcd', 'dxab', ['moved d', 'added x', 'removed c']],
    ['ab', 'ba', ['moved a']],
  ];
  for (const [before, after, expected] of cases) {
    assert.deepEqual(changed(stepsOf(before), stepsOf(after)), expected, `${before} ${after}`);
  }
});

test('a step with another name is known by its code', () => {
  const before = stepsOf('abc');
  const [a, b, c] = before as [ChangedStep, ChangedStep, ChangedStep];
  assert.deepEqual(changed(before, [a, { ...b, namespace: 'x' }, c]), ['renamed bx']);
  assert.deepEqual(changed(before, [{ ...c, namespace: 'x' }, a, b]), ['renamed cx', 'moved x']);
  assert.deepEqual(changed(before, [a, { namespace: 'x', code: 'other' }, c]), ['added x', 'removed b']);
  const same = before.map((step) => ({ ...step, code: 'same' }));
  const two = [{ namespace: 'x', code: 'same' }, { namespace: 'y', code: 'same' }, same[2] as ChangedStep];
  assert.deepEqual(changed(same, two), ['added x', 'added y', 'removed a', 'removed b']);
});

test('what is said of a name before counts, not the code', () => {
  const before = stepsOf('ab');
  const after = [
    { namespace: 'b', code: 'other', was: 'a' },
    { namespace: 'a', code: 'code of b', was: null },
  ];
  assert.deepEqual(changed(before, after), ['renamed ab', 'added a', 'removed b']);
});

test('names of steps are judged as a request is', () => {
  const others = new Set(['price']);
  for (const name of ['charge', '_', '_2', 'a'.repeat(64), '__proto__']) assert.equal(whyNoName(name, others), null);
  for (const name of ['', 'Charge', '2nd', 'two words', 'a-b', 'é', 'a'.repeat(65)]) {
    assert.match(whyNoName(name, others) ?? '', /^must be lower-case letters.*at most 64, but was "/);
  }
  assert.equal(whyNoName('price', others), '"price" is taken by an earlier step; each needs its own');
  assert.equal(whyNoName('trigger', others), '"trigger" is the name of the event; each needs its own');
  assert.deepEqual([freeName(others), freeName(new Set(['step_2']))], ['step_2', 'step_3']);
});
