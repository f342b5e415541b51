// The check of words in documents and sources.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findings } from '../../../release/prose.ts';

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
