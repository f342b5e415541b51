// The check of how large files and folders are.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { CHECKED, tooLarge } from '../../../release/sizes.ts';

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

test('each folder whose types are checked has its sizes checked', async () => {
  const { include } = JSON.parse(await readFile(join(import.meta.dirname, '../../../tsconfig.json'), 'utf8'));
  const folders = (include as string[]).map((path) => path.split('/')[0] as string);
  assert.deepEqual(
    folders.filter((folder) => !CHECKED.includes(folder)),
    [],
  );
});
