// Text of others in a terminal: widths, cuts, and no control character that comes through.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fit, jsonText, oneLine, onlyOurs, safeLines, widthOf } from '../../../src/cli/shell/text.ts';

const HOSTILE = 'a\u001b]0;title\u0007b\u001b]8;;http://evil\u001b\\c\u009b2Jd\u202ee\u2066f\u007fg\u0000h';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

test('control characters become signs, and lines one line', () => {
  for (const text of [
    oneLine(HOSTILE),
    ...safeLines(HOSTILE),
    onlyOurs(HOSTILE),
    jsonText({ [HOSTILE]: HOSTILE }) ?? '',
  ])
    assert.doesNotMatch(text, CONTROL);
  assert.equal(oneLine('one \r\n\r\n\ttwo\n'), 'one two');
  assert.equal(oneLine('a\tb'), 'a b');
  assert.equal(oneLine('e\u0301 👩‍👩‍👧'), 'e\u0301 👩‍👩‍👧', 'what joins characters stays');
});

test('colours of others are left out', () => {
  const coloured = 'Timeout \u001b[38;5;1m30000ms\u001b[39m\n\u001b[2m  - waiting\u001b[22m \u001b[2K';
  assert.equal(oneLine(coloured), 'Timeout 30000ms - waiting \ufffd[2K');
  assert.deepEqual(safeLines(coloured), ['Timeout 30000ms', '  - waiting \ufffd[2K']);
});

test('JSON that is made safe is the same JSON', () => {
  const value = { [HOSTILE]: [HOSTILE, 1.5, null], text: 'é漢\ud83d' };
  assert.deepEqual(JSON.parse(jsonText(value, 2) ?? ''), value);
  assert.equal(jsonText(undefined), undefined);
});

test('only colours of ours and line breaks come through', () => {
  assert.equal(onlyOurs('\u001b[31mred\u001b[39m\n\u001b[2J'), '\u001b[31mred\u001b[39m\n\ufffd[2J');
  assert.equal(onlyOurs('\u001b[31;1H\r'), '\ufffd[31;1H\ufffd');
});

test('much white space costs no more than other text', () => {
  // The square of this would not end within the test's time.
  assert.equal(oneLine(`a${' '.repeat(4_000_000)}b`).length, 4_000_002);
  assert.equal(oneLine(`a${' \n'.repeat(2_000_000)}b`), 'a b');
});

test('widths are those of a terminal', () => {
  for (const [text, width] of [
    ['abc', 3],
    ['注文', 4],
    ['한국어', 6],
    ['ｗｉｄｅ', 8],
    ['𠀋', 2],
    ['e\u0301', 1],
    ['\u0301', 0],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['©', 1],
    ['עברית', 5],
    ['\u200b\ufeff', 0],
  ] as const)
    assert.equal(widthOf(text), width, text);
});

test('a cut text is no wider than there is room, and never cut in a character', () => {
  assert.equal(fit('注文する', 8), '注文する');
  assert.equal(fit('注文する', 7), '注文す…');
  assert.equal(fit('注文する', 6), '注文…');
  assert.equal(fit('注文する', 1), '…');
  assert.equal(fit('ab👩‍👩‍👧c', 4), 'ab…');
  assert.equal(fit('abcd', 4), 'abcd');
  for (let width = 1; width < 30; width++) {
    const text = 'a注e\u0301👩‍👩‍👧🇩🇪'.repeat(5);
    assert.ok(widthOf(fit(text, width)) <= width);
  }
  const marks = `a${'\u0301'.repeat(100_000)}b`;
  assert.ok(fit(marks, 10).length < 400, 'of marks without end a part is kept');
});
