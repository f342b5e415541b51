// ARCHITECTURE.md names files and folders of the sources: each is there.

import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../../..');
/** Folders that names in the document may begin at, besides `src/`. */
const BASES = ['src', 'src/store/postgres', '.'];
const BACKENDS = ['sqlite', 'postgres'];

async function isThere(name: string): Promise<boolean> {
  const places = BASES.flatMap((base) => [join(ROOT, base, name), join(ROOT, base, `${name}.ts`)]);
  const found = await Promise.all(
    places.map((place) =>
      access(place).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}

test('every file that ARCHITECTURE.md names is there', async () => {
  const text = await readFile(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const named = [...text.matchAll(/`((?:[a-z<>-]+\/)+[a-z<>.-]*)`/g)].map(([, name]) => name as string);
  const names = named.flatMap((name) =>
    name.includes('<backend>') ? BACKENDS.map((backend) => name.replace('<backend>', backend)) : [name],
  );
  assert.ok(names.length > 20, `${names.length} names`);
  const missing: string[] = [];
  for (const name of names) if (!name.includes('<') && !(await isThere(name))) missing.push(name);
  assert.deepEqual(missing, []);
});

test('a name that is not there is found missing', async () => {
  assert.equal(await isThere('engine/nowhere'), false);
  assert.equal(await isThere('engine/accept/emit'), true);
});
