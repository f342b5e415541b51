// The command line where this user may not use the data dir: it says so, and never that nothing is there.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { strongRandom, TestClock } from '../contract/fixtures.ts';
import { BARE_ENV } from '../support/bare-env.ts';
import { createFolder, type Folder } from '../support/folders/folder.ts';

const ERRAND = join(import.meta.dirname, '../../src/errand.ts');
const IS_ROOT = process.getuid?.() === 0;
/** Root may use every file, so the commands are another user's then. */
const USER = IS_ROOT ? { uid: 65_534, gid: 65_534 } : {};
const SELF = IS_ROOT ? 65_534 : process.getuid?.();
const ON_DISK = {
  skip: (IS_ROOT && !isOpenToAll(ERRAND) && 'the checkout is closed to other users') as string | false,
};

function isOpenToAll(path: string): boolean {
  if ((statSync(path).mode & 0o1) === 0 && statSync(path).isDirectory()) return false;
  return path === dirname(path) || isOpenToAll(dirname(path));
}

interface Ended {
  readonly code: number;
  readonly stderr: string;
  readonly stdout: string;
}

async function errand(dataDir: string, ...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [ERRAND, ...args], {
    ...USER,
    env: {
      ...BARE_ENV,
      HOME: dirname(dataDir),
      ERRAND_DATA_DIR: dataDir,
      ERRAND_PORT: '0',
      ERRAND_SECRET_KEY: 'k'.repeat(40),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, stdout, stderr };
}

/** Makes a store of the user that the commands are called as, in a folder below the given one. */
async function madeStore(folder: Folder): Promise<string> {
  const dataDir = join(folder.path, 'data');
  await mkdir(dataDir, { mode: 0o700 });
  const store = await openSqliteStore({
    path: join(dataDir, 'errand.db'),
    clock: new TestClock(),
    random: strongRandom,
    secretKeys: [],
  });
  await store.close();
  if (USER.uid === undefined) return dataDir;
  chmodSync(folder.path, 0o755);
  for (const file of [dataDir, ...readdirSync(dataDir).map((name) => join(dataDir, name))])
    chownSync(file, 65_534, 65_534);
  return dataDir;
}

test('a data dir that is closed is not taken for none', ON_DISK, async () => {
  await using folder = await createFolder();
  const dataDir = await madeStore(folder);
  chmodSync(dataDir, 0);
  const why = `${dataDir} cannot be entered: it has mode 0000; "chmod u+rwX" opens it`;
  for (const command of [
    ['store', 'backup', join(folder.path, 'copy.db')],
    ['store', 'check'],
    ['keys', 'list'],
    ['errors', 'list'],
  ]) {
    const { code, stdout, stderr } = await errand(dataDir, ...command);
    assert.deepEqual([code === 0, stdout], [false, ''], command.join(' '));
    assert.ok(stderr.startsWith(`errand: ${why}`), stderr);
  }
  const { stdout } = await errand(dataDir, 'doctor', '--json');
  const found = JSON.parse(stdout).find(({ what }: { what: string }) => what === 'data dir');
  assert.deepEqual(found, {
    what: 'data dir',
    is: 'wrong',
    says: `${dataDir} cannot be used: it has mode 0000; "chmod u+rwX" opens it`,
  });
  chmodSync(dataDir, 0o700);
});

test('a file of the store that cannot be written is named', ON_DISK, async () => {
  await using folder = await createFolder();
  const dataDir = await madeStore(folder);
  for (const name of ['errand.db', 'errand.db-shm', 'errand.db-wal']) {
    const file = join(dataDir, name);
    writeFileSync(file, '', { flag: 'a' });
    if (SELF !== undefined && IS_ROOT) chownSync(file, SELF, SELF);
    const { mode } = statSync(file);
    chmodSync(file, 0o400);
    for (const command of [['start'], ['keys', 'list']]) {
      const { code, stderr } = await errand(dataDir, ...command);
      assert.deepEqual(
        [code, stderr],
        [1, `errand: ${file} cannot be read and written: it has mode 0400; "chmod u+rwX" opens it\n`],
      );
    }
    chmodSync(file, mode | 0o600);
  }
  const { stderr } = await errand(dataDir, 'keys', 'list');
  assert.equal(stderr, 'errand: the store has no owner yet\n');
});
