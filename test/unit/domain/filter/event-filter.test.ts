// What filters let through, what is no filter, and what they cost.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { utf8 } from '../../../../src/domain/bytes.ts';
import { type EventFilter, FilteredEvent, readFilter } from '../../../../src/domain/filter/event-filter.ts';
import { FilterFault } from '../../../../src/domain/filter/filter-fault.ts';
import { FILTER_LIMITS } from '../../../../src/domain/filter/limits.ts';

const reason = (filter: EventFilter, json: string): string | null => {
  readFilter(filter);
  return new FilteredEvent(utf8(json)).reasonAgainst(filter);
};
const matches = (filter: EventFilter, event: unknown): boolean => reason(filter, JSON.stringify(event)) === null;

/** Each: what is wanted of `x`, values of `x` that are, and values that are not. Undefined: there is no `x`. */
const CONDITIONS: readonly [wanted: unknown[], good: unknown[], bad: unknown[]][] = [
  [['a'], ['a', ['b', 'a'], [['a']]], ['A', 'ab', '', null, undefined, [], {}, { a: 'a' }, 1, true]],
  [[1], [1, [2, 1]], ['1', 1.5, 10, true, null, undefined]],
  [[null], [null, [null]], ['null', 0, false, undefined, []]],
  [
    [true, 'b'],
    [true, 'b'],
    [false, 'true', 1],
  ],
  [['ü"\\\n😀'], ['ü"\\\n😀'], ['ü', '😀']],
  [[{ prefix: 'invoice.' }], ['invoice.paid', 'invoice.'], ['invoice', 'an invoice.', 1, null, undefined]],
  [[{ suffix: '.png' }], ['a.png', '.png'], ['png', 'a.png ', undefined]],
  [[{ 'equals-ignore-case': 'Ada' }], ['ada', 'ADA'], ['adam', undefined]],
  [[{ wildcard: 'a*c*e' }], ['ace', 'abcde', 'a*c*e', 'acece'], ['ac', 'ae', 'xace', 'acex', 'aecx']],
  [[{ wildcard: 'a\\*b' }], ['a*b'], ['axb', 'a\\*b']],
  [[{ wildcard: '*' }], ['', 'x'], [1, null, undefined]],
  [[{ wildcard: 'ab*ba' }], ['abba', 'abxba'], ['aba', 'ab']],
  [[{ 'anything-but': 'a' }], ['b', 1, null, ['a', 'b']], ['a', ['a'], undefined, [], {}, { b: 1 }, [{ b: 1 }]]],
  [[{ 'anything-but': ['a', 1] }], ['b', 2], ['a', 1, undefined]],
  [[{ 'anything-but': { prefix: 'test_' } }], ['live', 1], ['test_1', undefined]],
  [[{ 'anything-but': { suffix: ['.a', '.b'] } }], ['x.c'], ['x.a', 'x.b']],
  [[{ numeric: ['>', 0, '<=', 5] }], [1, 5, 0.1], [0, 5.1, -1, '1', null, undefined]],
  [[{ numeric: ['=', 3] }], [3], [3.1, '3']],
  [[{ numeric: ['<', 0] }, 'none'], [-1, 'none'], [0]],
  [[{ exists: true }], [null, 1, [], {}, '', false], [undefined]],
  [[{ exists: false }], [undefined], [null, 1, [], {}]],
];

describe('a condition', () => {
  for (const [wanted, good, bad] of CONDITIONS) {
    test(`${JSON.stringify(wanted)} holds where it should, and nowhere else`, () => {
      for (const x of good) assert.ok(matches({ x: wanted }, { y: 0, x }), JSON.stringify(x));
      for (const x of bad) assert.ok(!matches({ x: wanted }, { y: 0, x }), JSON.stringify(x));
    });
  }
});

describe('a filter', () => {
  test('wants all of its fields, and names the one that is not', () => {
    const filter = { body: { type: [{ prefix: 'invoice.' }], live: [true] } };
    assert.equal(reason(filter, '{"body":{"type":"invoice.paid","live":true,"more":1}}'), null);
    assert.match(reason(filter, '{"body":{"type":"invoice.paid","live":false}}') ?? '', /at body\.live$/);
    assert.match(reason(filter, '{"body":{"type":"charge.paid","live":true}}') ?? '', /at body\.type$/);
    for (const other of ['{}', '{"body":null}', '{"body":"type"}', '{"body":[]}', '1', 'null', '"x"', '[]']) {
      assert.ok(reason(filter, other), other);
    }
  });

  test('wants one element of a list to be all that it names', () => {
    const filter = { items: { sku: ['A'], count: [{ numeric: ['>', 1] }] } };
    assert.ok(matches(filter, { items: [{ sku: 'B' }, { sku: 'A', count: 2 }] }));
    assert.ok(
      !matches(filter, {
        items: [
          { sku: 'A', count: 1 },
          { sku: 'B', count: 2 },
        ],
      }),
    );
    assert.ok(matches({ id: [1] }, [{ id: 2 }, { id: 1 }]));
    assert.ok(!matches({ id: [1] }, []));
  });

  test('takes one of several alternatives, beside what it always wants', () => {
    const filter = { live: [true], $or: [{ type: ['a'] }, { total: [{ numeric: ['>', 9] }] }] };
    assert.ok(matches(filter, { live: true, type: 'a' }));
    assert.ok(matches(filter, { live: true, type: 'b', total: 10 }));
    assert.ok(!matches(filter, { live: false, type: 'a' }));
    assert.match(reason(filter, '{"live":true,"type":"b"}') ?? '', /at \$or$/);
  });

  test('reads members as JSON.parse does', () => {
    assert.equal(reason({ x: [2] }, ' {"x": 1, "\\u0078" :\n 2.0 } '), null);
    assert.equal(reason({ é: ['ü'] }, '{"\\u00e9":"\\u00fc"}'), null);
    assert.equal(reason({ '\ufeffx': ['\ufeffy'] }, '{"\ufeffx":"\ufeffy"}'), null);
    const own: EventFilter = JSON.parse('{"__proto__":[1],"constructor":[{"exists":false}]}');
    assert.equal(reason(own, '{"__proto__":1}'), null);
    assert.ok(reason(own, '{}'));
  });

  test('finds any value at its path', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.string(), (value, name) => {
        const isLeaf = value === null || typeof value !== 'object';
        fc.pre(name !== '$or' && (isLeaf || Array.isArray(value)));
        const leaves = [value].flat(9).filter((one) => one === null || typeof one !== 'object');
        const event = JSON.stringify(JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`), null, 1);
        const filter = (one: unknown): EventFilter => JSON.parse(`{${JSON.stringify(name)}:[${JSON.stringify(one)}]}`);
        for (const leaf of leaves.slice(0, 5)) assert.equal(reason(filter(leaf), event), null);
        assert.ok(reason(filter('none of these, surely'), event));
      }),
    );
  });
});

describe('no filter', () => {
  const nested = (levels: number): EventFilter =>
    levels === 0 ? ({ x: [1] } as EventFilter) : { x: nested(levels - 1) };
  const REFUSED: readonly [given: EventFilter, path: string, message: RegExp][] = [
    [{}, 'filter', /is empty/],
    [{ a: {} }, 'filter.a', /is empty/],
    [{ a: [] }, 'filter.a', /nothing would match/],
    [{ a: 'x' }, 'filter.a', /must be a list/],
    [{ a: null }, 'filter.a', /must be a list/],
    [{ a: { b: [{ prefx: 'x' }] } }, 'filter.a.b[0]', /prefix, suffix, .*exists/],
    [{ a: ['x', ['y']] }, 'filter.a[1]', /one operator/],
    [{ a: [{}] }, 'filter.a[0]', /one operator/],
    [{ a: [{ prefix: 'x', suffix: 'y' }] }, 'filter.a[0]', /one operator/],
    [{ a: [{ prefix: 1 }] }, 'filter.a[0]', /prefix takes a text/],
    [{ a: [{ prefix: '' }] }, 'filter.a[0]', /not empty/],
    [{ a: [{ exists: 'yes' }] }, 'filter.a[0]', /true or false/],
    [{ a: [{ numeric: ['>'] }] }, 'filter.a[0]', /numeric takes/],
    [{ a: [{ numeric: ['!', 1] }] }, 'filter.a[0]', /one of = < <= > >=/],
    [{ a: [{ numeric: ['constructor', 1] }] }, 'filter.a[0]', /one of = </],
    [{ a: [{ numeric: ['>', '1'] }] }, 'filter.a[0]', /numeric takes/],
    [{ a: [{ 'anything-but': [] }] }, 'filter.a[0]', /anything-but takes/],
    [{ a: [{ 'anything-but': { prefix: [] } }] }, 'filter.a[0]', /anything-but takes/],
    [{ a: [{ 'anything-but': { numeric: ['>', 1] } }] }, 'filter.a[0]', /prefix/],
    [{ a: [{ constructor: 'x' }] }, 'filter.a[0]', /one operator/],
    [{ $or: [] }, 'filter.$or', /list of objects/],
    [{ $or: { a: [1] } }, 'filter.$or', /list of objects/],
    [{ $or: [{ a: [1] }, []] }, 'filter.$or[1]', /must be a list of what is wanted|fields/],
    [{ a: ['x'.repeat(FILTER_LIMITS.bytes)] }, 'filter', /bytes of JSON/],
    [nested(FILTER_LIMITS.depth), `filter.${'x.'.repeat(FILTER_LIMITS.depth - 1)}x`, /nested deeper/],
  ];
  for (const [given, path, message] of REFUSED) {
    test(`is ${JSON.stringify(given).slice(0, 60)}`, () => {
      assert.throws(
        () => readFilter(given),
        (fault) => fault instanceof FilterFault && fault.path === path && message.test(fault.message),
      );
    });
  }

  test('may be as deep and as long as allowed', () => {
    readFilter(nested(FILTER_LIMITS.depth - 1));
    readFilter({ a: ['x'.repeat(FILTER_LIMITS.bytes - '{"a":[""]}'.length)] });
  });

  test('that a store holds anyway withholds, and says why', () => {
    const stored = { a: [{ 'an-operator-to-come': 1 }] };
    assert.match(new FilteredEvent(utf8('{"a":1}')).reasonAgainst(stored) ?? '', /cannot be read: filter\.a\[0\]/);
  });
});

describe('an event that is too much to look at', () => {
  const values = Math.ceil(FILTER_LIMITS.workBytes / 192) + 1;

  test('goes through', () => {
    const list = `{"a":[${'0,'.repeat(values)}0]}`;
    assert.equal(reason({ a: [1] }, list), null);
    assert.ok(reason({ b: [1] }, list), 'what is not looked at costs nothing');
    const members = `{${'"b":0,'.repeat(values)}"a":0}`;
    assert.equal(reason({ a: [1] }, members), null);
  });

  test('is so for all of its filters together', () => {
    const event = new FilteredEvent(utf8(`{"a":[${'0,'.repeat(values / 2)}0],"b":1}`));
    assert.ok(event.reasonAgainst({ b: [2] }));
    const answers = Array.from({ length: 9 }, () => event.reasonAgainst({ a: [1] }) === null);
    const given = answers.indexOf(true);
    assert.ok(given > 0 && !answers.slice(given).includes(false), `${answers}`);
  });

  test('is so for texts that conditions read to their end', () => {
    const chars = 2 ** 20;
    const text = 'a'.repeat(chars);
    for (const condition of [
      { wildcard: `*${'a'.repeat(4000)}b${'a'.repeat(3000)}*` },
      { 'equals-ignore-case': 'B' },
    ]) {
      const event = new FilteredEvent(utf8(`{"a":"${text}"}`));
      const answers = Array.from({ length: 100 }, () => event.reasonAgainst({ a: [condition] }) === null);
      const looked = answers.indexOf(true);
      assert.ok(looked > 5 && looked < FILTER_LIMITS.workBytes / chars, `${looked} of them`);
      assert.ok(!answers.slice(looked).includes(false));
    }
  });
});

test('an array that several filters look at is walked once, and what they find is the same', () => {
  const event = new FilteredEvent(utf8('{"a":[{"b":1,"c":[5,6]},{"b":2,"c":[7]},{"b":"x"}]}'));
  const passes = (filter: Readonly<Record<string, unknown>>): boolean => event.reasonAgainst(filter) === null;
  for (const round of [1, 2]) {
    assert.ok(passes({ a: { b: [2] } }), `${round}`);
    assert.ok(!passes({ a: { b: [9] } }), `${round}`);
    assert.ok(passes({ a: { b: [2], c: [7] } }), `${round}`);
    assert.ok(!passes({ a: { b: [1], c: [7] } }), 'one element has to be as wanted in all of its fields');
    assert.ok(passes({ a: { b: ['x'] } }), 'also behind the one that was found before');
    assert.ok(passes({ a: { c: [6] } }), `${round}`);
  }
});

/** Filters that cost most for the work that they are charged. */
const COSTLY: Readonly<Record<string, [event: unknown, filter: Readonly<Record<string, unknown>>]>> = {
  'near misses of a wildcard': [
    { s: 'a'.repeat(500_000) },
    { s: Array.from({ length: 300 }, (_, n) => ({ wildcard: `*ab${n}*` })) },
  ],
  'alternatives on one array': [
    { s: Array.from({ length: 20_000 }, (_, a) => ({ a })) },
    { $or: Array.from({ length: 200 }, () => ({ s: { a: [-1] } })) },
  ],
};

for (const [name, [given, filter]] of Object.entries(COSTLY)) {
  test(`what is too much to look at is given up in time: ${name}`, () => {
    const body = utf8(JSON.stringify(given));
    // By what it looked at, and not by a clock: each is some 0.1 s of the processor.
    assert.equal(new FilteredEvent(body).reasonAgainst(filter), null);
    const few = Object.fromEntries(
      Object.entries(filter).map(([field, all]) => [field, (all as unknown[]).slice(0, 20)]),
    );
    assert.ok(new FilteredEvent(body).reasonAgainst(few), 'a few of them are looked at to the end');
  });
}

test('long parts of a wildcard are found where they are', () => {
  const [a, b] = ['ab'.repeat(200), 'c'.repeat(300)];
  const text = JSON.stringify(`abx${a}${a}y${b}d`);
  const found = (wildcard: string): boolean => reason({ a: [{ wildcard }] }, `{"a":${text}}`) === null;
  for (const [pattern, isFound] of [
    [`*x${a}*`, true],
    [`*${a}${a}y*`, true],
    [`*${a}a${a}*`, false],
    [`*${a}*${a}*${b}*`, true],
    [`*${a}*${a}*${a}*`, false],
    [`*${b}*${a}*`, false],
    [`*b${a}y*`, true],
    [`*${b}d`, true],
    [`*${b}c*`, false],
    [`*${b}*c*`, false],
  ] as const) {
    assert.equal(found(pattern), isFound, pattern.slice(0, 20));
  }
});
