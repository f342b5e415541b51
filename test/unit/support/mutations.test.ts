// The list of mutations still fits the sources: it is run rarely, and would rot unseen.

import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { mutated } from '../../mutate/mutate.ts';
import { MUTATIONS } from '../../mutate/mutations.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('every mutation changes its file', async () => {
  assert.ok(MUTATIONS.length > 150, `${MUTATIONS.length} mutations`);
  const wrong: string[] = [];
  for (const mutation of MUTATIONS) {
    try {
      const text = await readFile(join(ROOT, mutation.file), 'utf8');
      assert.notEqual(mutated(text, mutation), text, mutation.name);
      for (const file of mutation.tests) await access(join(ROOT, file));
    } catch (error) {
      wrong.push((error as Error).message);
    }
  }
  assert.deepEqual(wrong, []);
});

test('mutations have names of their own', () => {
  assert.equal(new Set(MUTATIONS.map(({ name }) => name)).size, MUTATIONS.length);
});

test('a text that stands twice is no mutation', () => {
  const twice = { name: 'x', file: 'f', from: 'a', to: 'b', tests: [] };
  assert.throws(() => mutated('aa', twice), /2 times/);
  assert.throws(() => mutated('c', twice), /0 times/);
});
