// Which rules of an owner hold together.

import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { Redactor } from '../../../../src/domain/privacy/redactor.ts';
import { NO_REDACTION } from '../../../../src/domain/privacy/rules.ts';
import { matcherOf } from '../../../../src/engine/privacy/patterns.ts';
import { RedactionRulesOf } from '../../../../src/engine/privacy/redactions.ts';

const rulesOf = (keys: Readonly<Record<string, string>>) => {
  const rules = new Map(Object.entries(keys).map(([id, key]) => [id, { ...NO_REDACTION, keys: [key] }]));
  const store = { redactionsOf: async () => rules };
  return new RedactionRulesOf({ store, clock: { nowMs: () => 0 } } as never).read('u_1');
};

test('what two workflows have in common is hidden by the rules of both', async () => {
  const own = await rulesOf({ p_a: 'pin', p_b: 'code' });
  const shown = (...ids: string[]) => own?.of(ids)?.text('pin=1&code=2');
  equal(shown('p_a'), 'pin=[redacted]&code=2');
  equal(shown('p_b', 'hi_1'), 'pin=1&code=[redacted]');
  equal(shown('p_a', 'p_b'), 'pin=[redacted]&code=[redacted]');
  equal(shown('p_c'), undefined);
});

test('the rules of an owner hold for every workflow', async () => {
  const own = await rulesOf({ u_1: 'pin', p_b: 'code' });
  equal(own?.of(['p_a'])?.text('pin=1&code=2'), 'pin=[redacted]&code=2');
  equal(own?.of(['p_b'])?.text('pin=1&code=2'), 'pin=[redacted]&code=[redacted]');
});

const htmlOf = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');

/** A member as it stands in texts that are no JSON as a whole, such as the beginning of an event in a mail. */
const WRITTEN: readonly ((pin: string) => string)[] = [
  (pin) => JSON.stringify({ pin, rest: 1 }),
  (pin) => JSON.stringify({ text: JSON.stringify({ pin, rest: 1 }) }),
  (pin) => JSON.stringify({ text: JSON.stringify({ text: JSON.stringify({ pin, rest: 1 }) }) }),
  (pin) => `call pin=${JSON.stringify(pin)}`,
  (pin) => JSON.stringify({ text: `call pin=${JSON.stringify(pin)}`, rest: 1 }),
];

test('a member is hidden whole, however often it was quoted and escaped', async () => {
  const own = await rulesOf({ u_1: 'pin' });
  for (const secret of ['1234', 'ab"1234"cd', 'ab\\1234', 'ab\\"1234', '1234\\', `a'1234`, '&1234<>']) {
    for (const [n, write] of WRITTEN.entries()) {
      for (const [as, text] of Object.entries({ text: write(secret), html: htmlOf(write(secret)) })) {
        const shown = own?.all.text(`${text}\n…`) ?? '';
        ok(shown.includes('[redacted]') && !shown.includes('1234'), `${as} ${n} of ${secret}: ${text} is ${shown}`);
        ok(!text.includes('rest') || shown.includes('rest'), `${as} ${n} of ${secret}: ${shown} is more than that`);
      }
    }
  }
});

const byPattern = async (pattern: string) => new Redactor(NO_REDACTION, await matcherOf([pattern]));

test('a pattern hides what it matches, and nothing where its match is empty', async () => {
  for (const [pattern, text, shown] of [
    ['\\d+', 'a 12 b 3', 'a [redacted] b [redacted]'],
    ['\\b', 'a 12', 'a 12'],
    ['\\b\\d*', 'a 12 b', 'a [redacted] b'],
    ['b|\\b', 'abba b', 'a[redacted][redacted]a [redacted]'],
  ] as const) {
    equal((await byPattern(pattern)).text(text), shown, pattern);
  }
});

// Before each of these matches, which are short or empty, the rest of the text is searched for a longer one.
for (const pattern of ['x.*y|x', 'x.*y|\\b']) {
  test(`a text in which ${pattern} takes too long is hidden as a whole`, async () => {
    equal((await byPattern(pattern)).text('x '.repeat(8000)), '[redacted]');
  });
}

// One search, of which each character takes a thousand instructions: seconds in which the server would answer no one.
test('a text on which one search takes too long is hidden as a whole', async () => {
  const slow = await byPattern('(?:[a-z]?){500}[0-9]');
  equal(slow.text('a'.repeat(200_000)), '[redacted]');
  equal(slow.text('ab'), 'ab', 'the next text has its own time');
  // What stands at the begin of each stretch matches at once.
  equal((await byPattern('^a|b(?:[a-z]?){500}[0-9]')).text(`a${'b'.repeat(200_000)}`), '[redacted]');
});
