// errand store backup, ended at any moment: what is there is never taken for a backup, and the next one to the same file is whole.

import { deepEqual, equal, match } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { checkSqlite } from '../../../../src/store/sqlite/maintenance/check.ts';
import { TestClock } from '../../../contract/fixtures.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { until } from '../../../support/wait.ts';
import { call, startCommand } from '../command.ts';
import { fillStore } from '../full-store.ts';

const MIB = 2 ** 20;
const FILLED_MIB = 48;

/** Fills a store that takes a while to copy. */
async function fill(dataDir: string): Promise<string> {
  const path = join(dataDir, 'errand.db');
  await mkdir(dataDir, { recursive: true });
  await fillStore(path, new TestClock());
  const db = new DatabaseSync(path);
  db.exec(`CREATE TABLE filling (bytes BLOB);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${FILLED_MIB})
      INSERT INTO filling SELECT randomblob(${MIB}) FROM n`);
  db.close();
  return path;
}

test('a backup that is ended leaves none, and the next one is whole', async () => {
  await using folder = await createFolder();
  const [dataDir, to] = [join(folder.path, 'data'), join(folder.path, 'backups')];
  await mkdir(to);
  const path = await fill(dataDir);
  const file = join(to, 'copy.db');
  const moments: [NodeJS.Signals, number][] = [
    ['SIGKILL', 0],
    ['SIGINT', 0],
    ['SIGKILL', 8 * MIB],
    ['SIGTERM', 8 * MIB],
    ['SIGKILL', 30 * MIB],
  ];
  for (const [signal, bytes] of moments) {
    const { child, called } = startCommand(['store', 'backup', file], { ERRAND_DATA_DIR: dataDir });
    const partial = `${file}.${child.pid}.partial`;
    await until(`${bytes} bytes`, async () => ((await stat(partial).catch(() => null))?.size ?? -1) >= bytes);
    child.kill(signal);
    equal((await called).stdout, '', `${signal} at ${bytes}`);
    const left = (await readdir(to)).filter((name) => !name.startsWith(`copy.db.${child.pid}.partial`));
    deepEqual(left, [], `${signal} at ${bytes}`);
    if (signal !== 'SIGKILL') deepEqual(await readdir(to), [], `${signal} at ${bytes}`);
  }
  equal((await checkSqlite(path)).ok, true);
  // In a container the killed one may have had the same id; files of others stay.
  await writeFile(join(to, 'other.db.1.partial'), '');
  const again = await call(['store', 'backup', file, '--json'], { ERRAND_DATA_DIR: dataDir });
  deepEqual([again.status, again.json().integrity], [0, 'ok'], again.stderr);
  deepEqual((await readdir(to)).sort(), ['copy.db', 'other.db.1.partial']);
  equal((await checkSqlite(file)).ok, true);
});

const SMALL_DISK = { skip: process.getuid?.() === 0 ? false : 'mounting a small disk takes root' };

test('a backup to a full disk says so, and leaves nothing', SMALL_DISK, async () => {
  await using folder = await createFolder();
  const [dataDir, to] = [join(folder.path, 'data'), join(folder.path, 'small')];
  await mkdir(to);
  const path = await fill(dataDir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', to]);
  try {
    const file = join(to, 'copy.db');
    const { status, stderr, stdout } = await call(['store', 'backup', file], { ERRAND_DATA_DIR: dataDir });
    deepEqual([status, stdout], [1, '']);
    match(stderr, /^errand: the copy \S+ could not be written: database or disk is full/);
    deepEqual(await readdir(to), []);
    equal((await checkSqlite(path)).ok, true);
  } finally {
    execFileSync('umount', [to]);
  }
});

test('a store whose own disk is full is called so', SMALL_DISK, async () => {
  await using folder = await createFolder();
  const dataDir = join(folder.path, 'small');
  await mkdir(dataDir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', dataDir]);
  try {
    await fillStore(join(dataDir, 'errand.db'), new TestClock());
    const key = join(folder.path, 'key');
    await writeFile(key, 'k'.repeat(40));
    const ballast = join(dataDir, 'ballast');
    await writeFile(ballast, Buffer.alloc(32 * MIB)).catch(() => undefined);
    for (const command of [['check'], ['backup', join(folder.path, 'copy.db')], ['rekey', '--to-file', key]]) {
      const { status, stderr } = await call(['store', ...command], { ERRAND_DATA_DIR: dataDir });
      equal(status, 1);
      match(stderr, /^errand: \S+\/errand\.db(-lock)? cannot be opened: its disk is full$/m, command.join(' '));
    }
    await rm(ballast);
    equal((await checkSqlite(join(dataDir, 'errand.db'))).ok, true);
  } finally {
    execFileSync('umount', [dataDir]);
  }
});
