// The reporter of failed tests.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createFolder } from '../../support/folders/folder.ts';

const REPORTER = join(import.meta.dirname, '../../support/failures.ts');
const TESTS = `import assert from 'node:assert';
import { describe, test } from 'node:test';
test('that holds', () => {});
test('that is to be done', { todo: true }, () => { throw new Error('not yet'); });
describe('several', () => {
  test('that does not', () => { assert.equal(1, 2, 'one is not two'); });
});
test('that was asked in vain', () => { throw new Error('fetch failed', { cause: new Error('the other side closed') }); });`;

test('what fails is told with its place and its reason, here and in the file', async () => {
  await using folder = await createFolder();
  const file = join(folder.path, 'some.test.mjs');
  const helper = join(folder.path, 'kit.mjs');
  const kept = join(folder.path, 'failures.txt');
  await writeFile(file, TESTS);
  await writeFile(helper, `import test from 'node:test'; test('of a kit', () => { throw new Error('no'); });`);
  const user = join(folder.path, 'user.test.mjs');
  await writeFile(user, `import './kit.mjs';`);
  const shared = join(folder.path, 'shared.test.mjs');
  await writeFile(shared, `import test from 'node:test'; test('beside others', () => { throw new Error('no'); });`);
  const group = join(folder.path, 'errand-groups-x/group-01.test.mjs');
  await mkdir(join(folder.path, 'errand-groups-x'));
  await writeFile(group, `await import('../shared.test.mjs');`);
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const child = spawn(process.execPath, ['--test', `--test-reporter=${REPORTER}`, file, user, group], {
    env: { ...env, ERRAND_TEST_FAILURES: kept, ERRAND_TEST_PART: 'unit' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await text(child.stdout);
  assert.equal(await readFile(kept, 'utf8'), said);
  assert.equal(said.match(/^failed: /gm)?.length, 4, said);
  assert.match(said, /some\.test\.mjs:6 that does not \(\d+ ms\)\n {2}AssertionError.*one is not two/);
  assert.match(
    said,
    /some\.test\.mjs:8 that was asked in vain \(\d+ ms\)\n[\s\S]*\[cause\]: Error: the other side closed/,
  );
  const cwd = process.cwd();
  assert.deepEqual(
    (await readFile(`${kept}.files`, 'utf8')).trim().split('\n').sort(),
    [shared, file, file, user].map((one) => `unit ${relative(cwd, one)}`),
    'of each the file that was run, and not the one that defines the test, nor the group',
  );
});
