import assert from 'node:assert/strict';
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { mayBeWorkflow, scanFolder } from '../../../../src/engine/files/scan.ts';
import { createFolder } from '../../../support/folders/folder.ts';

test('only code outside of hidden places may be a workflow', () => {
  for (const path of ['a.ts', 'a.js', 'a.mts', 'a.mjs', 'a.cts', 'a.cjs', 'sub/deep/a.ts', 'a.b.ts', 'contest.ts']) {
    assert.ok(mayBeWorkflow(path), path);
  }
  for (const path of [
    'a.json',
    'a.tsx',
    'a.d.ts',
    'a.d.mts',
    'a.test.ts',
    'a.spec.js',
    '_a.ts',
    '.a.ts',
    '_lib/a.ts',
    'sub/.git/a.ts',
    'ts',
    'a.ts~',
    'a.ts.tmp',
  ]) {
    assert.ok(!mayBeWorkflow(path), path);
  }
});

test('a scan finds files, links and folders', async () => {
  await using folder = await createFolder();
  const { path } = folder;
  for (const name of ['sub/_lib', '.git', 'node_modules/x']) await mkdir(join(path, name), { recursive: true });
  for (const name of ['a.ts', 'sub/b.ts', 'sub/_lib/c.ts', '.git/d.ts', 'node_modules/x/e.ts', '.env']) {
    await writeFile(join(path, name), 'x');
  }
  await symlink('a.ts', join(path, 'link.ts'));
  const { stamps, folders } = await scanFolder(path);
  assert.deepEqual([...stamps.keys()].sort(), ['a.ts', 'link.ts', 'sub/_lib/c.ts', 'sub/b.ts']);
  assert.deepEqual(
    folders,
    ['', 'sub', 'sub/_lib'].map((name) => join(path, name)),
  );
});

test('whatever changes a file changes its stamp', async () => {
  await using folder = await createFolder();
  const file = join(folder.path, 'a.ts');
  const stamp = async (): Promise<string | undefined> => (await scanFolder(folder.path)).stamps.get('a.ts');
  await writeFile(file, 'one');
  const first = await stamp();
  assert.equal(await stamp(), first);
  await utimes(file, new Date(0), new Date(0));
  const older = await stamp();
  assert.notEqual(older, first);
  await writeFile(file, 'three');
  assert.notEqual(await stamp(), older);
});

test('packages and settings around bear on every file', async () => {
  await using folder = await createFolder();
  const dir = join(folder.path, 'workflows');
  await mkdir(dir);
  let before = (await scanFolder(dir)).around;
  for (const name of ['workflows/.env', 'package.json', 'tsconfig.json', 'node_modules/.package-lock.json']) {
    await mkdir(join(folder.path, 'node_modules'), { recursive: true });
    await writeFile(join(folder.path, name), '{}');
    const { around } = await scanFolder(dir);
    assert.notEqual(around, before, name);
    before = around;
  }
});

test('a folder that is gone is no empty folder', async () => {
  await using folder = await createFolder();
  await rm(folder.path, { recursive: true });
  await assert.rejects(scanFolder(folder.path), /ENOENT/);
});
