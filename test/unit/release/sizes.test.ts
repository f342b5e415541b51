// The check of how large files and folders are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tooLarge } from '../../../release/sizes.ts';

const lines = (count: number): string => 'a\n'.repeat(count);

test('a file of more than 350 lines is refused', () => {
  const files = new Map([
    ['src/a.ts', lines(350)],
    ['src/b.ts', lines(351)],
    ['src/data.txt', lines(1000)],
  ]);
  assert.deepEqual(tooLarge(files), ['src/b.ts: 351 lines, where 350 is the limit']);
});

test('a folder of more than 25 files is refused', () => {
  const named = (folder: string, count: number): [string, string][] =>
    Array.from({ length: count }, (_, n) => [`${folder}/${n}.ts`, '']);
  const files = new Map([...named('test/a', 25), ...named('test/a/b', 26)]);
  assert.deepEqual(tooLarge(files), ['test/a/b/: 26 files, where 25 is the limit']);
});
