// The reporter of skipped tests.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createFolder } from '../../support/folders/folder.ts';

const REPORTER = join(import.meta.dirname, '../../support/skips.ts');
const TESTS = `import { test } from 'node:test';
test('of the moon', { skip: 'needs a moon' }, () => {});
test('of no reason', { skip: true }, () => {});
test('that runs', () => {});`;

async function run(allowed: string | undefined): Promise<{ code: number; said: string }> {
  await using folder = await createFolder();
  const file = join(folder.path, 'some.test.mjs');
  await writeFile(file, TESTS);
  const { NODE_TEST_CONTEXT, ERRAND_TEST_SKIPS, ...env } = process.env;
  const child = spawn(process.execPath, ['--test', `--test-reporter=${REPORTER}`, file], {
    env: { ...env, ...(allowed === undefined ? {} : { ERRAND_TEST_SKIPS: allowed }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = text(child.stdout);
  const code = await new Promise<number>((resolve) => child.once('exit', (n) => resolve(n ?? -1)));
  return { code, said: await said };
}

test('what is skipped is named, and may be', async () => {
  const { code, said } = await run(undefined);
  assert.equal(code, 0);
  assert.deepEqual(said.trim().split('\n').sort(), [
    'skipped: of no reason: for no reason given',
    'skipped: of the moon: needs a moon',
  ]);
});

test('a reason that is not expected fails the run', async () => {
  assert.equal((await run('moon|no reason')).code, 0);
  const { code, said } = await run('moon');
  assert.equal(code, 1);
  assert.match(said, /skipped, which fails this run: of no reason/);
  assert.match(said, /skipped: of the moon/);
});
