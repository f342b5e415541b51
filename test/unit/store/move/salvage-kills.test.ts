// errand store salvage, killed: the damaged store stays as it is, and the same command does it when it is called again.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkSqlite } from '../../../../src/store/sqlite/maintenance/check.ts';
import { TestClock } from '../../../contract/fixtures.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { startCommand } from '../command.ts';
import { makeImage, overwrite } from './damaged.ts';

const HOOK = `--import=${join(import.meta.dirname, 'die-in-salvage.ts')}`;
const KEY = `${Buffer.alloc(32, 7).toString('base64')}\n`;
const POINTS = 8;
/** The last calls: keys are copied, the store gets its name, and is checked. */
const LAST = [60, 20, 12, 8, 5, 3, 2];

test('salvaging that is killed harms nothing, and is called again', async () => {
  await using folder = await createFolder();
  const [dir, to] = [join(folder.path, 'data'), join(folder.path, 'data.salvaged')];
  mkdirSync(dir);
  const { path } = await makeImage({ folder: dir, clock: new TestClock(), inFile: 150, inWal: 60 });
  overwrite(path, 0, Buffer.alloc(100));
  writeFileSync(join(dir, 'api-key'), 'key\n');
  const contents = (): [string, string][] =>
    readdirSync(dir)
      .filter((name) => !name.includes('-lock'))
      .sort()
      .map((name) => [name, readFileSync(join(dir, name), 'latin1')]);
  const before = contents();
  const salvage = async (where: string, more: Record<string, string> = {}) => {
    const env = { ERRAND_DATA_DIR: dir, NODE_OPTIONS: HOOK, ...more };
    const { child, called } = startCommand(['store', 'salvage', dir, '--to', where, '--json'], env);
    child.stdin?.end();
    const ended = await called;
    return { ...ended, signal: child.signalCode };
  };
  const counted = join(folder.path, 'count');
  const whole = await salvage(join(folder.path, 'reference'), { COUNT_IN: counted });
  equal(whole.status, 0, whole.stderr);
  const calls = Number(readFileSync(counted, 'utf8'));
  ok(calls > 200, `${calls} calls`);
  const spread = Array.from({ length: POINTS }, (_, n) => 1 + Math.floor((n * calls) / POINTS));
  for (const at of [...spread, ...LAST.map((n) => calls - n)]) {
    // What the salvage before this one left is still there.
    const killed = await salvage(to, { DIE_AT: String(at) });
    equal(killed.signal, 'SIGKILL', `at call ${at} of ${calls}: ${killed.stderr}`);
    deepEqual(contents(), before, `at call ${at}`);
    const store = join(to, 'errand.db');
    if (!existsSync(store)) continue;
    // It has its name: it is whole, and so are its keys.
    equal((await checkSqlite(store)).ok, true, `at call ${at}`);
    equal(readFileSync(join(to, 'api-key'), 'utf8'), 'key\n');
    rmSync(to, { recursive: true });
  }
  const again = await salvage(to);
  equal(again.status, 0, again.stderr);
  const { tables, ok: isWell } = again.json();
  deepEqual([tables, isWell], [whole.json().tables, true]);
  deepEqual(contents(), before);
  deepEqual(readdirSync(to).sort(), readdirSync(join(folder.path, 'reference')).sort(), 'nothing is left beside it');
  equal(statSync(join(to, 'api-key')).mode & 0o077, 0);
});

test('a folder with another key, or another file, is never written', async () => {
  await using folder = await createFolder();
  const [dir, to] = [join(folder.path, 'data'), join(folder.path, 'new')];
  for (const one of [dir, to]) mkdirSync(one);
  await makeImage({ folder: dir, clock: new TestClock(), inFile: 20, inWal: 0 });
  writeFileSync(join(dir, 'secret-key'), KEY);
  const salvage = async () => {
    const { child, called } = startCommand(['store', 'salvage', dir, '--to', to], { ERRAND_DATA_DIR: dir });
    child.stdin?.end();
    return called;
  };
  const refused = async (file: string, text: string, said: RegExp): Promise<void> => {
    writeFileSync(join(to, file), text);
    const { status, stderr } = await salvage();
    ok(status !== 0 && said.test(stderr), stderr);
    equal(readFileSync(join(to, file), 'utf8'), text);
    equal(existsSync(join(to, 'errand.db')), false);
    rmSync(join(to, file));
  };
  await refused('secret-key', KEY, /is not empty/);
  writeFileSync(join(to, 'errand.db.used.new'), 'left by one that was killed');
  await refused('notes.txt', 'mine', /is not empty/);
  await refused('secret-key', KEY.replace('B', 'C'), /secret-key is another key: name a new folder/);
});
