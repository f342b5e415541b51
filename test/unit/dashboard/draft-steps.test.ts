// What the page of a workflow shows of a draft, whatever is deployed meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Draft, type DraftStep, NO_DRAFT } from '../../../dashboard/src/workflows/steps/draft.ts';
import {
  afterDeployment,
  codeOf,
  isChanged,
  moved,
  newId,
  rearranged,
  settled,
  shownSteps,
  withCode,
} from '../../../dashboard/src/workflows/steps/draft-steps.ts';

type Deployed = Parameters<typeof shownSteps>[0];

const deployed = (names: string, code = 'code of'): Deployed =>
  [...names].map((namespace) => ({ id: `c_${namespace}`, namespace, code: `${code} ${namespace}` }));
const of = (names: string, version = 'd_1') => ({ deployed: deployed(names), version });
const shown = (names: string | Deployed, draft: Draft): string =>
  shownSteps(typeof names === 'string' ? deployed(names) : names, draft)
    .map(({ id, name }) => (id === name || id.startsWith('+') ? name : `${name}(${id})`))
    .join(' ');

const without = (id: string) => (steps: readonly DraftStep[]) => steps.filter((step) => step.id !== id);
const called = (id: string, name: string) => (steps: readonly DraftStep[]) =>
  steps.map((step) => (step.id === id ? { id, name } : step));
const adding = (name: string, at: number) => (steps: readonly DraftStep[]) => [
  ...steps.slice(0, at),
  { id: newId(), name },
  ...steps.slice(at),
];
const arranged = (names: string, ...acts: Parameters<typeof rearranged>[2][]): Draft =>
  acts.reduce((draft, act) => rearranged(draft, of(names), act), NO_DRAFT);

test('steps are added, renamed, moved and removed, and what is undone is no change', () => {
  const draft = arranged('abc', adding('x', 1), called('b', 'y'), (steps) => moved(steps, 'c', -1), without('a'));
  assert.equal(shown('abc', draft), 'x c y(b)');
  assert.deepEqual([...draft.removed], ['a']);
  assert.equal(draft.base, 'd_1');
  const back = arranged(
    'ab',
    (steps) => moved(steps, 'a', 1),
    (steps) => moved(steps, 'a', -1),
  );
  assert.deepEqual([back.steps, back.base], [null, null]);
  assert.equal(isChanged(deployed('ab'), shownSteps(deployed('ab'), back)), false);
  const [one, other] = [arranged('ab', adding('x', 1)), arranged('ab', adding('x', 1))].map(
    ({ steps }) => steps?.[1]?.id,
  );
  assert.notEqual(one, other);
});

test('steps of another version are shown, and those that it removed are not', () => {
  const draft = arranged('abc', (steps) => moved(steps, 'a', 1), without('c'));
  assert.equal(shown('abc', draft), 'b a');
  assert.equal(shown('abcz', draft), 'b a z');
  assert.equal(shown('zabc', draft), 'z b a');
  assert.equal(shown('azb', draft), 'b a z');
  assert.equal(shown('bc', draft), 'b');
});

test('code that was typed into a step that another version removed stays', () => {
  const typed = withCode(NO_DRAFT, 'd_1', ['b', 'mine']);
  assert.equal(shown('ac', typed), 'a c b');
  assert.deepEqual(shownSteps(deployed('ac'), typed).map(codeOf), ['code of a', 'code of c', 'mine']);
  assert.equal(
    shown(
      'ac',
      rearranged(typed, of('abc'), (steps) => moved(steps, 'b', -1)),
    ),
    'b a c',
  );
  const gone = rearranged(typed, of('abc'), without('b'));
  assert.equal(shown('abc', gone), 'a c');
  assert.equal(gone.code.size, 0);
});

test('a draft ends with its deployment, but for what was changed meanwhile', () => {
  const base = withCode(NO_DRAFT, 'd_1', ['a', 'typed']);
  const draft = rearranged(base, of('ab'), called('a', 'x'));
  const sent = { draft, steps: shownSteps(deployed('ab'), draft) };
  const now = { deployed: [{ id: 'c_x', namespace: 'x', code: 'typed' }, ...deployed('b')], version: 'd_2' };
  const none = afterDeployment(draft, sent, now);
  assert.deepEqual([none.steps, none.code.size, none.base], [null, 0, null]);
  const later = rearranged(withCode(draft, 'd_1', ['a', 'typed more']), of('ab'), (steps) => moved(steps, 'a', 1));
  const left = afterDeployment(later, sent, now);
  assert.equal(shown(now.deployed, left), 'b x');
  assert.deepEqual([[...left.code], left.base], [[['x', 'typed more']], 'd_2']);
});

test('what another person deployed alike is no draft any more', () => {
  const draft = rearranged(withCode(NO_DRAFT, 'd_1', ['a', 'new a']), of('abc'), without('c'));
  const theirs = { deployed: deployed('ab', 'new'), version: 'd_2' };
  assert.deepEqual(settled(draft, theirs).base, null);
  const other = settled(draft, { deployed: deployed('abc', 'new'), version: 'd_2' });
  assert.deepEqual([other.code.size, other.base, shown('abc', other)], [0, 'd_1', 'a b']);
});

test('names of members of objects are names of steps', () => {
  const names = ['constructor', '__proto__', 'valueof'];
  const steps = names.map((namespace) => ({ id: `c_${namespace}`, namespace, code: '1' }));
  const draft = withCode(NO_DRAFT, 'd_1', ['__proto__', '2']);
  assert.deepEqual(shownSteps(steps, NO_DRAFT).map(codeOf), ['1', '1', '1']);
  assert.deepEqual(shownSteps(steps, draft).map(codeOf), ['1', '2', '1']);
});
