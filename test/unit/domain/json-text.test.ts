import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonDepth } from '../../../src/domain/json-text.ts';

/** JSON.parse says whether it is JSON; the depth is counted in what is left without the strings. */
function depthOf(text: string): number | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  let depth = 0;
  const depths = text.replace(/"(\\.|[^"\\])*"/g, '').match(/[[\]{}]/g) ?? [];
  return Math.max(0, ...depths.map((char) => (char === '[' || char === '{' ? ++depth : --depth)));
}

function agrees(text: string): void {
  assert.equal(jsonDepth(Buffer.from(text)), depthOf(text), JSON.stringify(text));
}

test('the odd corners agree with JSON.parse', () => {
  const good = [
    '0',
    '-0',
    '1e5',
    '1E+05',
    '0.10',
    '""',
    '"\\u00e9\\/"',
    '[]',
    '{}',
    ' [ ] ',
    '[{}]',
    '{"":{}}',
    'null',
    '1e400',
  ];
  const bad = [
    '',
    ' ',
    '-',
    '01',
    '1.',
    '.5',
    '+1',
    '1e',
    '1e+',
    '"',
    '"\\',
    '"\\u12',
    '"\\u12g4"',
    '"\\x"',
    '"\t"',
    '[1,]',
  ];
  const worse = [
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '{"a" 1}',
    '{"a"}',
    '[1 2]',
    ']',
    '}',
    '[}',
    '{]',
    'tru',
    'truee',
    'nul',
    'NaN',
  ];
  const others = [
    '1 1',
    '\ufeff{}',
    '\u00a01',
    '[\u2028]',
    '"\u2028"',
    '"\u007f"',
    '{"a":1}}',
    '[[',
    '{"a":',
    '{,}',
    '[,1]',
    '\v1',
  ];
  for (const text of [...good, ...bad, ...worse, ...others]) agrees(text);
});

test('any JSON agrees with JSON.parse', () => {
  fc.assert(fc.property(fc.json(), agrees), { numRuns: 1000 });
});

test('JSON broken anywhere agrees with JSON.parse', () => {
  const pieces = fc.constantFrom(
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '0',
    '-',
    '.',
    'e',
    ' ',
    'null',
    '\\u00',
    'é',
    '\n',
  );
  const broken = fc.tuple(fc.json({ maxDepth: 3 }), fc.nat(), fc.nat(3), pieces).map(([json, at, cut, piece]) => {
    const place = at % (json.length + 1);
    return json.slice(0, place) + piece + json.slice(place + cut);
  });
  fc.assert(fc.property(broken, agrees), { numRuns: 5000 });
});

test('heaps of JSON pieces agree with JSON.parse', () => {
  const piece = fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1', '-', '0', '.', 'e', 'true', ' ', '"', '\\');
  const heap = fc.array(piece, { maxLength: 12 }).map((all) => all.join(''));
  fc.assert(fc.property(heap, agrees), { numRuns: 20_000 });
});

test('deep nesting does not overflow the stack', () => {
  assert.equal(jsonDepth(Buffer.from('['.repeat(300_000) + ']'.repeat(300_000))), 300_000);
  assert.equal(jsonDepth(Buffer.from('[{"a":'.repeat(100_000))), null);
});
