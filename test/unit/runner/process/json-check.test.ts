// JSON that is judged without being parsed: it must say what the parser says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkCheaply, checkJson } from '../../../../src/runner/process/json-check.ts';

function takes(check: (text: string) => void, text: string): boolean {
  try {
    check(text);
    return true;
  } catch (error) {
    assert.ok(error instanceof SyntaxError, `${text}: ${error}`);
    return false;
  }
}

const agrees = (text: string): void => {
  const expected = takes(JSON.parse, text);
  assert.equal(takes(checkJson, text), expected, JSON.stringify(text));
  assert.equal(takes(checkCheaply, text), expected, JSON.stringify(text));
};

test('it takes what the parser takes', () => {
  fc.assert(fc.property(fc.json(), agrees));
  fc.assert(fc.property(fc.jsonValue(), fc.nat(4), (value, indent) => agrees(JSON.stringify(value, null, indent))));
});

test('it refuses what the parser refuses', () => {
  const changed = fc.tuple(
    fc.json(),
    fc.nat(),
    fc.string({ unit: fc.constantFrom(...'[]{}",:\\u0e-+. \n\0tn1é\ud800') }),
  );
  fc.assert(
    fc.property(changed, ([text, at, put]) =>
      agrees(text.slice(0, at % (text.length + 1)) + put + text.slice(at % text.length)),
    ),
    { numRuns: 2000 },
  );
  const words = fc.array(fc.constantFrom('[', ']', '{', '}', ',', ':', '"a"', '1', 'null', ' '), { maxLength: 8 });
  fc.assert(
    fc.property(words, (parts) => agrees(parts.join(''))),
    { numRuns: 5000 },
  );
});

test('what is hard is judged like the rest', () => {
  for (const text of [
    ...[
      '',
      ' ',
      '[',
      ']',
      '[]]',
      '[,]',
      '[1,]',
      '{,}',
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      '{1:1}',
      "{'a':1}",
      'nul',
      'nullx',
    ],
    ...['00', '01', '-', '-0', '-01', '1.', '.1', '1e', '1e+', '1E-07', '0e0', '+1', 'NaN', 'Infinity', '0x1', '1 2'],
    ...[
      '"',
      '"\\"',
      '"\\x41"',
      '"\\u12"',
      '"\\u12g4"',
      '"\\u1234"',
      '"\n"',
      '"\u007f"',
      '"\u2028"',
      '"\\/"',
      '"\ud800"',
    ],
    ...['\ufeff1', '\u00a01', '\v1', '[1]\0', '{"__proto__":1,"__proto__":2}', '"a" "b"', '[[[]', '{"a":{"b":[{}]}}'],
  ]) {
    agrees(text);
    agrees(`[${text},${'[],'.repeat(20_000)}1]`);
  }
});

test('depth and values are bounded', () => {
  const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
  for (const check of [(text: string) => checkJson(text, { levels: 256 }), (text: string) => checkCheaply(text, 256)]) {
    check(nested(256));
    assert.throws(() => check(nested(258)), RangeError);
    assert.throws(() => check(`[${'[],'.repeat(200_000)}${nested(258)}]`), RangeError);
  }
  checkJson('[1,{"a":2}]', { values: 4 });
  assert.throws(() => checkJson('[1,{"a":2},3]', { values: 4 }), RangeError);
  // The rest is not looked at.
  assert.throws(() => checkJson('[1,2,3,4,5,no json', { values: 4 }), RangeError);
});
