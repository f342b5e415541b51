// A file `.env` beside a server is no setting of it: the start says so.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { BARE_ENV } from '../../support/bare-env.ts';
import { createFolder } from '../../support/folders/folder.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');

/** Starts a server that fails soon, since its data dir is a file, and returns the lines of its log about the file. */
function warningsIn(cwd: string, env: Record<string, string> = {}): Record<string, unknown>[] {
  const settings = { ...BARE_ENV, ERRAND_DATA_DIR: process.execPath, ...env };
  const { stderr, status } = spawnSync(process.execPath, [MAIN], { cwd, env: settings, encoding: 'utf8' });
  assert.equal(status, 1, stderr);
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => /this file is not read/.test(msg));
}

test('settings in a file .env are told as ignored, without their values', async () => {
  await using folder = await createFolder();
  await writeFile(
    join(folder.path, '.env'),
    'export ERRAND_PORT=1\nOTHER=2\n# ERRAND_HOST=x\nERRAND_API_KEY="a-secret"\n',
  );
  const [warning, ...more] = warningsIn(folder.path);
  assert.equal(more.length, 0);
  assert.ok(warning);
  assert.equal(warning.level, 40);
  assert.equal(warning.file, join(folder.path, '.env'));
  assert.deepEqual((warning.ignored as string[]).toSorted(), ['ERRAND_API_KEY', 'ERRAND_PORT']);
  assert.ok(!JSON.stringify(warning).includes('a-secret'));
  const loaded = { ERRAND_PORT: '0', ERRAND_API_KEY: 'a-key-that-only-this-test-knows' };
  assert.deepEqual(warningsIn(folder.path, loaded), [], 'it was read by another program');
});

test('other files .env are not told', async () => {
  await using folder = await createFolder();
  assert.deepEqual(warningsIn(folder.path), []);
  await writeFile(join(folder.path, '.env'), 'PORT=1\nTHE_ERRAND_PORT=2\n');
  assert.deepEqual(warningsIn(folder.path), []);
  const below = join(folder.path, 'below');
  await mkdir(join(below, '.env'), { recursive: true });
  assert.deepEqual(warningsIn(below), [], 'a folder');
});
