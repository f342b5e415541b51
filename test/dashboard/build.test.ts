// What the build of the dashboard gives.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

const FOLDER = join(import.meta.dirname, '../../dist/dashboard');
const skip = !existsSync(FOLDER) && 'The dashboard has not been built: npm run build:dashboard';

/** What a signed-in owner downloads before the first page shows. */
const FIRST_VIEW_BYTES = 200 * 1024;

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

async function manifest(): Promise<Readonly<Record<string, Chunk>>> {
  return JSON.parse(await readFile(join(FOLDER, 'manifest.json'), 'utf8'));
}

async function compressedBytes(file: string): Promise<number> {
  const path = join(FOLDER, file);
  return (await stat(existsSync(`${path}.gz`) ? `${path}.gz` : path)).size;
}

const PAGES = [
  'overview/overview',
  'errors/inbox',
  'errors/group',
  'errors/error',
  'workflows/list',
  'notices/notices',
];

for (const page of PAGES.map((name) => `src/${name}.tsx`)) {
  test(`the first view of ${page} is small`, { skip }, async () => {
    const chunks = await manifest();
    const files = new Set<string>();
    const add = (name: string): void => {
      const chunk = chunks[name];
      assert.ok(chunk, name);
      if (files.has(chunk.file)) return;
      files.add(chunk.file);
      for (const imported of chunk.imports ?? []) add(imported);
    };
    add('index.html');
    add(page);
    const sizes = await Promise.all([...files].map(compressedBytes));
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    assert.ok(total < FIRST_VIEW_BYTES, `${total} bytes of script`);
  });
}

test('the page has nothing inline', { skip }, async () => {
  const page = await readFile(join(FOLDER, 'index.html'), 'utf8');
  assert.doesNotMatch(page, /<style|\son\w+=|style="|javascript:/);
  for (const [, attributes, content] of page.matchAll(/<script([^>]*)>([^<]*)</g)) {
    assert.match(attributes ?? '', /src="\/assets\/[\w-]+\.js"/);
    assert.equal(content, '');
  }
});

test('the licences of what is bundled go with it', { skip }, async () => {
  const text = await readFile(join(FOLDER, 'licences.md'), 'utf8');
  for (const name of ['react', 'react-dom', '@mantine/core', '@tanstack/react-router'])
    assert.ok(text.includes(name), name);
  assert.doesNotMatch(text, /GPL|SSPL|BUSL|UNLICENSED/);
});
