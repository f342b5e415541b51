// How a project names the package of the program that made it.

import { deepEqual } from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ownPackage } from '../../../src/cli/shell/own-package.ts';
import { VERSION } from '../../../src/domain/version.ts';
import { createFolder } from '../../support/folders/folder.ts';

async function write(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

const lock = (resolved: string): string => JSON.stringify({ packages: { 'node_modules/errand': { resolved } } });

test('a package that npm has from a file is named by that file', async () => {
  await using folder = await createFolder();
  await write(folder.path, {
    'packed/errand.tgz': '',
    'app/node_modules/.package-lock.json': lock('file:../packed/errand.tgz'),
    'app/node_modules/errand/package.json': '{}',
    'app/node_modules/errand/dist/cli.js': '',
  });
  const from = join(folder.path, 'app/node_modules/errand/dist');
  deepEqual(await ownPackage(join(folder.path, 'flows/mine'), from), {
    spec: 'file:../../packed/errand.tgz',
    packIn: null,
  });
  deepEqual(await ownPackage(join(folder.path, 'app'), from), { spec: 'file:../packed/errand.tgz', packIn: null });
});

test('a package from the registry is named by its version', async () => {
  await using folder = await createFolder();
  const from = join(folder.path, 'app/node_modules/errand');
  await write(from, { 'package.json': '{}' });
  const registry = { spec: `^${VERSION}`, packIn: null };
  deepEqual(await ownPackage(folder.path, from), registry, 'another program than npm has put it there');
  for (const resolved of ['https://registry.npmjs.org/errand/-/errand-0.1.0.tgz', 'file:../gone.tgz']) {
    await write(folder.path, { 'app/node_modules/.package-lock.json': lock(resolved) });
    deepEqual(await ownPackage(folder.path, from), registry, resolved);
  }
});

test('a checkout is to be packed first', async () => {
  await using folder = await createFolder();
  const root = join(folder.path, 'errand');
  await write(root, { 'package.json': '{}', 'src/cli/shell/own-package.ts': '' });
  const [dir, spec] = [join(folder.path, 'mine'), `file:../errand/errand-${VERSION}.tgz`];
  deepEqual(await ownPackage(dir, join(root, 'src/cli/shell')), { spec, packIn: root });
  await write(root, { [`errand-${VERSION}.tgz`]: '' });
  deepEqual(await ownPackage(dir, join(root, 'src/cli/shell')), { spec, packIn: null });
});
