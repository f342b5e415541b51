// The command `errand` of a checkout: what the dashboard and the documents show as `npx errand …` works there.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../../..');

/** A checkout whose folders are those of this one, with a `node_modules` of its own. */
async function checkout() {
  const folder = await mkdtemp(join(tmpdir(), 'errand checkout $HOME '));
  await mkdir(join(folder, 'release'));
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await copyFile(join(ROOT, 'release/link-command.cjs'), join(folder, 'release/link-command.cjs'));
  for (const name of ['src', 'package.json']) await symlink(join(ROOT, name), join(folder, name));
  const bin = join(folder, 'node_modules/.bin/errand');
  return {
    link: () => spawnSync(process.execPath, [join(folder, 'release/link-command.cjs')], { encoding: 'utf8' }),
    errand: (...args: string[]) => spawnSync(bin, args, { encoding: 'utf8', cwd: tmpdir() }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

test('a checkout has the command by its name', async () => {
  await using made = await checkout();
  for (let time = 0; time < 2; time++) assert.deepEqual([made.link().status, made.link().stderr], [0, '']);
  const { stdout, status } = made.errand('--version');
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  assert.equal(status, 0);
  assert.equal(made.errand('no-such-command').status, 2);
});
