// The check of words in documents and sources.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings, withoutVerb } from '../../../release/prose.ts';

test('a refused word is found with its line', () => {
  const found = findings('docs/a.md', 'Good.\nThen Whoever asks begins anew.\n');
  assert.deepEqual(found, [
    { place: 'docs/a.md:2', word: 'Whoever' },
    { place: 'docs/a.md:2', word: 'anew' },
  ]);
});

test('names in code and longer words are not refused', () => {
  assert.deepEqual(findings('docs/a.md', 'As `nobody`, recommend an amendment.'), []);
  assert.deepEqual(findings('src/a.ts', "const id = 'p_nobody1';"), []);
});

test('a refused phrase is found in a comment, and not in longer words', () => {
  const comment =
    '// Each owner hears of it, and no one is left half made.\n// Who holdsters, the noone, hears offers.';
  assert.deepEqual(
    findings('src/a.ts', comment).map(({ word }) => word),
    ['hears of', 'no one', 'half made'],
  );
});

test("a function's comment begins with its verb", () => {
  const places = (...lines: string[]): string[] => withoutVerb('src/a.ts', lines.join('\n')).map(({ place }) => place);
  const functions = [
    'export async function f(): Promise<void> {',
    'function* f(): Steps<void> {',
    'const f = (a: string): string =>',
    '  #f(a: string): string {',
    '  get f(): string {',
    '  async *f<T>(a: T): AsyncIterable<T> {',
    '  f(): void;',
  ];
  for (const code of functions) {
    assert.deepEqual(places('', '/** The result. */', code), ['src/a.ts:2'], code);
    assert.deepEqual(places('', '/**', ' * `a`: a name.', ' */', code), ['src/a.ts:2'], code);
    assert.deepEqual(places('/** As the other. */', code), ['src/a.ts:1'], code);
    assert.deepEqual(places('/** Returns the result. */', code), [], code);
    assert.deepEqual(places('/**', ' * Returns, for each, the result.', ' */', code), [], code);
    assert.deepEqual(places('/** Called when it ends. */', code), [], code);
  }
  for (const code of [
    'interface F {',
    'readonly f: string;',
    'constructor(a: string) {',
    'const F = 3;',
    'if (a) f();',
  ]) {
    assert.deepEqual(places('/** The result. */', code), [], code);
  }
});
