// JSON that a re-serialisation would change: numbers beyond doubles, duplicate and odd keys, escapes, odd whitespace.

import fc from 'fast-check';

const number = fc.oneof(
  fc.constantFrom('1e400', '-1e400', '1E+2', '-0', '0.10', '1.0', '12345678901234567890', '9007199254740993', '1e-400'),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 200n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).map((value) => JSON.stringify(value.toWellFormed())),
  fc.constantFrom(
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\u2028\u2028"',
    '"\\/"',
    '"\\u00e9é"',
    '"\u007f"',
    '"😀\\ud83d\\ude00"',
  ),
);

const key = fc.oneof(
  text,
  fc.constantFrom(
    '"__proto__"',
    '"constructor"',
    '"10"',
    '"9"',
    '"-1"',
    '"a"',
    '"a"',
    '"\\u0061"',
    '""',
    '"toString"',
    '"$base64"',
  ),
);

const space = fc.constantFrom('', '', ' ', '\n', '\t', '\r\n', '  \n\t ');

function listOf(item: fc.Arbitrary<string>, [open, close]: [string, string]): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.array(
        fc.tuple(space, item, space).map((parts) => parts.join('')),
        { maxLength: 4 },
      ),
      space,
    )
    .map(([items, empty]) => open + (items.length === 0 ? empty : items.join(',')) + close);
}

const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(number, text, fc.constantFrom('true', 'false', 'null')),
    tie('array'),
    tie('object'),
  ),
  array: listOf(tie('value'), ['[', ']']),
  object: listOf(
    fc
      .tuple(key, space, space, tie('value'))
      .map(([name, before, after, member]) => `${name}${before}:${after}${member}`),
    ['{', '}'],
  ),
}));

const deep = fc
  .constantFrom<[string, string]>(['[', ']'], ['{"a":', '}'], ['[ ', '\n]'])
  .map(([open, close]) => `${open.repeat(200)}1e400${close.repeat(200)}`);

const large = fc
  .tuple(fc.constantFrom('x', 'é', '\\u0000', '😀', '1, '), value)
  .map(([unit, inner]) => `{"big":"${unit.repeat(Math.floor(500_000 / Buffer.byteLength(unit)))}","inner":${inner}}`);

/** A JSON text; now and then 200 levels deep or nearly 500 KiB large. */
export const hardJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 20, arbitrary: value },
  { weight: 2, arbitrary: deep },
  { weight: 1, arbitrary: large },
);

/** One of each extreme, for a service that is asked but once. */
export const EXTREMES: readonly string[] = [
  '{"n":12345678901234567890,"n":1e400,"n":-0}',
  '{ "__proto__" : {"x":1}, "10":1, "9":2, "a":3, "\\u0061":4 }',
  '["\\ud800","\\udc00\\ud800","\\u0000","\u2028"]',
  `${'['.repeat(200)}1${']'.repeat(200)}`,
  `{"big":"${'é'.repeat(250_000)}"}`,
  '\r\n\t {\n"a"\t:\r[ ]\n}',
  'null',
  '"text"',
  '1e400',
];
