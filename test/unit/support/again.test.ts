// Which failed tests are run once more, and what becomes of it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { allFiles, filesAgain } from '../../parts.ts';
import { createFolder } from '../../support/folders/folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const UNIT = 'test/unit/domain/dedupe.test.ts';
const FLOW = 'test/flows/ledger.test.ts';

const ofLines = (lines: readonly string[], ...parts: string[]) => filesAgain(`${lines.join('\n')}\n`, parts);

test('a few files are run once more, each in its part', () => {
  const [unit, sqlite, postgres] = [
    { part: 'unit', file: UNIT },
    { part: 'sqlite', file: FLOW },
    { part: 'postgres', file: FLOW },
  ];
  assert.deepEqual(ofLines([`unit ${UNIT}`, `unit ${UNIT}`], 'unit'), [unit]);
  assert.deepEqual(ofLines([`unit ${UNIT}`, `sqlite ${FLOW}`], 'sqlite', 'unit'), [unit, sqlite]);
  assert.deepEqual(ofLines([`sqlite ${FLOW}`, `postgres ${FLOW}`], 'sqlite', 'postgres'), [sqlite, postgres]);
});

test('more are not, nor a part that failed without a failed test', () => {
  const units = allFiles('unit').map((file) => `unit ${file}`);
  assert.equal(ofLines(units.slice(0, 6), 'unit')?.length, 6);
  assert.equal(ofLines(units.slice(0, 7), 'unit'), null);
  assert.equal(ofLines([], 'unit'), null);
  assert.equal(ofLines([`unit ${UNIT}`], 'unit', 'sqlite'), null, 'what ended the other part is not known');
  for (const line of [`sqlite ${UNIT}`, 'unit ?', `? ${UNIT}`, 'unit test/parts.ts', 'unit test/unit/none.test.ts']) {
    assert.equal(ofLines([line], 'unit', 'sqlite'), null, line);
  }
});

test('what passes is told, and what fails again fails', async () => {
  await using folder = await createFolder();
  const failures = join(folder.path, 'failures');
  await writeFile(`${failures}.files`, `unit ${UNIT}\n`);
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const again = (...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'test/again.ts'), ...args], { cwd: ROOT, env, encoding: 'utf8' });
  const passed = again(failures, 'unit');
  assert.equal(passed.status, 0, passed.stderr);
  assert.match(passed.stderr, /^PASSED ONLY AT A SECOND TIME: test\/unit\/domain\/dedupe\.test\.ts \(unit\)$/m);
  env.NODE_OPTIONS = `--import=data:text/javascript,process.execArgv.includes('--test')&&process.exit(3)`;
  const failed = again(failures, 'unit');
  assert.equal(failed.status, 1, failed.stderr);
  assert.match(failed.stderr, /^failed again: test\/unit\/domain\/dedupe\.test\.ts/m);
  assert.equal(again(`${failures}-none`, 'unit').status, 1);
});

test('whoever runs everything runs them with the project’s own Node.js', async () => {
  await using folder = await createFolder();
  const failures = join(folder.path, 'failures');
  await writeFile(`${failures}.files`, `unit ${UNIT}\n`);
  // The machine's own Node.js may be one that knows no TypeScript.
  await writeFile(join(folder.path, 'node'), '#!/bin/sh\nexit 9\n', { mode: 0o755 });
  const lines = (await readFile(join(ROOT, '.ci/run'), 'utf8')).trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  assert.match(last, /again\.ts/);
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { status, stderr } = spawnSync('bash', ['-c', `set -euo pipefail; parts=(unit); ${last}`], {
    cwd: ROOT,
    env: { ...env, PATH: `${folder.path}:/usr/bin:/bin`, ERRAND_TEST_FAILURES: failures },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});
