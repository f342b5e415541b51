// What separates the events of failures from those of successes, and how texts differ.

import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { COMPARED } from '../../../../src/domain/errors/compared.ts';
import {
  differencesOf,
  EventFacts,
  inWords,
  shapeChanges,
  shapeOf,
} from '../../../../src/domain/errors/differences.ts';
import { lineDiff, stepDiffs } from '../../../../src/domain/errors/line-diff.ts';

function facts(events: readonly unknown[]): EventFacts {
  const counted = new EventFacts();
  for (const event of events) counted.add(event);
  return counted;
}

function told(failures: readonly unknown[], successes: readonly unknown[]): string[] {
  const of = { failures: failures.length, successes: successes.length };
  return differencesOf(facts(failures), facts(successes)).map((one) => inWords(one, of));
}

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

test('a field that is null in all failures is told in words', () => {
  const failures = many(41, (n) => ({ body: { id: n, currency: null } }));
  const successes = many(9412, (n) => ({ body: { id: -n, currency: n % 2 ? 'EUR' : 'USD' } }));
  deepEqual(told(failures, successes), ['`body.currency` is null in 41 of 41 failures, in 0 of 9,412 successes']);
});

test('values, missing fields and empty lists separate, too', () => {
  deepEqual(told([{ a: 1 }, { a: 1 }], [{ a: 2 }, { a: 3 }]), ['`a` is 1 in 2 of 2 failures, in 0 of 2 successes']);
  deepEqual(told([{}, {}], [{ a: { b: 1 } }, { a: { b: 2 } }]), [
    '`a` is missing in 2 of 2 failures, in 0 of 2 successes',
  ]);
  deepEqual(told([{ items: [] }], [{ items: [{ n: 1 }] }]), [
    '`items` is an empty array in 1 of 1 failures, in 0 of 1 successes',
  ]);
  deepEqual(told(['x', 'y'], [{ a: 1 }]), ['the event is a string in 2 of 2 failures, in 0 of 1 successes']);
  deepEqual(told([{ 'a b': [null] }], [{ 'a b': [1] }]), [
    '`["a b"][]` is null in 1 of 1 failures, in 0 of 1 successes',
  ]);
});

test('the length of a body is not told beside the body', () => {
  const event = (length: string, a: unknown) => ({ headers: { 'content-length': length }, body: { a } });
  deepEqual(told([event('10', null)], [event('20', 1), event('21', 1)]), [
    '`body.a` is null in 1 of 1 failures, in 0 of 2 successes',
  ]);
});

test('what failures and successes share is not told', () => {
  const event = (n: number) => ({ id: n, kind: 'order', list: [n] });
  deepEqual(
    told(
      many(60, event),
      many(60, (n) => event(n + 100)),
    ),
    [],
  );
  deepEqual(told([{ a: null }], []), [], 'nothing to compare with');
  const half = many(10, (n) => ({ a: n < 4 ? null : 1 }));
  deepEqual(
    told(
      half,
      many(10, () => ({ a: 1 })),
    ),
    [],
    'less than half',
  );
});

test('one value of the successes alone is told as what failures lack', () => {
  const failures = many(9, (n) => ({ plan: `trial-${n}` }));
  deepEqual(
    told(
      failures,
      many(9, () => ({ plan: 'pro' })),
    ),
    ['`plan` is "pro" in 0 of 9 failures, in 9 of 9 successes'],
  );
});

test('values of secrets and long texts are never told', () => {
  const failures = [{ headers: { authorization: 'a', 'x-api-key': 'b' }, text: 'c'.repeat(COMPARED.valueChars + 1) }];
  const successes = [{ headers: { authorization: 'd', 'x-api-key': 'e' }, text: 'f' }];
  deepEqual(told(failures, successes), ['`text` is "f" in 0 of 1 failures, in 1 of 1 successes']);
  const under = [{ cookies: { sid: 'a' }, tokens: ['b'], 'x.secret.y': 'c', author: 'd', authorisation: 'e' }];
  deepEqual(told(under, [{ cookies: { sid: '' }, tokens: [1], 'x.secret.y': '', author: 'x', authorisation: 1 }]), [
    '`author` is "d" in 1 of 1 failures, in 0 of 1 successes',
    '`tokens[]` is a string in 1 of 1 failures, in 0 of 1 successes',
    '`cookies.sid` is a string in 1 of 1 failures, in 0 of 1 successes',
    '`authorisation` is a string in 1 of 1 failures, in 0 of 1 successes',
    '`["x.secret.y"]` is a string in 1 of 1 failures, in 0 of 1 successes',
  ]);
});

test('hostile events are bounded', () => {
  let deep: unknown = 1;
  for (let n = 0; n < 10_000; n++) deep = [deep];
  const wide = Object.fromEntries(many(10_000, (n) => [`k${n}`, n]));
  const counted = facts([deep, wide, JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}'), null]);
  equal(counted.events, 4);
  equal(counted.fields.size, COMPARED.paths);
  equal(differencesOf(counted, facts([wide])).length <= COMPARED.shown, true);
});

test('nothing is told of fields that were not looked at', () => {
  const names = (from: number) => Object.fromEntries(many(COMPARED.paths, (n) => [`id_${from + n}`, { a: 1 }]));
  // The event has it, behind as many fields as are looked at.
  const wide = { ids: names(0), last: { currency: { code: 'EUR' } } };
  deepEqual(told([{ last: { currency: { code: 'EUR' } } }], [wide]), [
    '`ids` is missing in 1 of 1 failures, in 0 of 1 successes',
  ]);
  const changes = shapeChanges(shapeOf(wide), shapeOf({ ids: {}, last: { currency: 7 } }));
  equal(
    changes.some(({ path }) => path.startsWith('last')),
    false,
  );
  equal(changes.length > 0, true, 'what both were looked at for is told');
  // Each event has few, and all together too many.
  const others = [...many(10, (n) => ({ ids: names(n * COMPARED.paths) })), { last: { currency: 1 } }];
  deepEqual(told([{ ids: {}, last: { currency: 1 } }], others), []);
});

test('fields near the top are looked at before those of a large list', () => {
  const event = (currency: string | null) => ({
    items: many(40, (n) => ({ [`id_${n}`]: many(20, (k) => ({ [`k${n}_${k}`]: k })) })),
    body: { currency },
  });
  deepEqual(told([event(null), event(null)], [event('EUR')]), [
    '`body.currency` is null in 2 of 2 failures, in 0 of 1 successes',
  ]);
});

test('the shapes of two events differ by field', () => {
  deepEqual(shapeChanges(shapeOf({ a: 1, b: 'x', c: [] }), shapeOf({ a: null, b: 'y', d: true })), [
    { path: 'a', before: ['number'], after: ['null'] },
    { path: 'c', before: ['empty array'], after: [] },
    { path: 'd', before: [], after: ['boolean'] },
  ]);
});

test('code differs by lines, with a little around them', () => {
  deepEqual(lineDiff('1\n2\n3\nold\n5\n6\n7', '1\n2\n3\nnew\n5\n6\n7'), [' 2', ' 3', '-old', '+new', ' 5', ' 6']);
  deepEqual(lineDiff('a\nb\nc', 'a\nc'), [' a', '-b', ' c']);
  deepEqual(lineDiff('x\nkept\ny', 'kept\nz'), ['-x', ' kept', '-y', '+z']);
  deepEqual(lineDiff('', 'new'), ['-', '+new']);
  const lines = (sign: string): string => many(COMPARED.lines + 1, (n) => sign + n).join('\n');
  equal(lineDiff(lines('a'), lines('b')), null);
});

test('the lines of many steps are compared within bounds', () => {
  const stepsOf = (sign: string) =>
    many(2 * COMPARED.steps, (n) => ({
      namespace: `step_${n}`,
      code: many(COMPARED.lines, (line) => `${sign}${line}`).join('\n'),
    }));
  const [before, after] = [stepsOf('a'), stepsOf('b')];
  after.push({ namespace: 'added', code: 'new' });
  const diffs = stepDiffs(before, after);
  deepEqual(
    diffs.map(({ lines }) => lines !== null),
    [...many(2 * COMPARED.steps, (n) => n < COMPARED.steps), false],
  );
  equal(diffs[0]?.lines?.length, 2 * COMPARED.lines);
});
