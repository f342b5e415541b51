// What the machine refuses at the start, and how it is told: by the setting's name, in one line.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { administer } from '../../../src/server/administration.ts';
import { readConfig } from '../../../src/server/config.ts';
import { clock, random } from '../../../src/server/real-ports.ts';
import { startService } from '../../../src/server/service.ts';
import { complaintOf } from '../../../src/server/startup-error.ts';
import { backupSqlite } from '../../../src/store/sqlite/maintenance/backup.ts';
import { createFolder, type Folder } from '../../support/folders/folder.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** What the entry point would print. */
async function told(folder: Folder, env: Record<string, string>): Promise<string> {
  const config = readConfig({ ERRAND_DATA_DIR: folder.path, ERRAND_PORT: '0', ...env });
  return startService(config, { clock, random, log }).then(
    async (service) => {
      await service.stop(0);
      return 'it started';
    },
    (error) => complaintOf(error),
  );
}

test('a data dir that cannot be one is told', async () => {
  await using folder = await createFolder();
  const file = join(folder.path, 'file');
  await writeFile(file, '');
  for (const dir of [file, join(file, 'below')]) {
    assert.match(await told(folder, { ERRAND_DATA_DIR: dir }), /^ERRAND_DATA_DIR: ".*" is not a folder .*$/);
  }
});

test('a folder that is not there is told', async () => {
  await using folder = await createFolder();
  for (const setting of ['ERRAND_PACKAGES_DIR', 'ERRAND_COMPONENTS_DIR', 'ERRAND_WORKFLOWS_DIR']) {
    const message = await told(folder, { [setting]: join(folder.path, 'not-there') });
    assert.match(message, new RegExp(`^${setting}: .*not-there.*$`));
  }
});

test('an address of another machine is told', async () => {
  await using folder = await createFolder();
  assert.match(await told(folder, { ERRAND_HOST: '192.0.2.1' }), /^ERRAND_HOST: .*192\.0\.2\.1.*$/);
});

test('a file that is no store is told', async () => {
  await using folder = await createFolder();
  const file = join(folder.path, 'errand.db');
  await writeFile(file, 'this is no database, and longer than the header of one would be '.repeat(20));
  const message = await told(folder, { ERRAND_DATABASE_URL: '' });
  assert.ok(
    message.startsWith(`the store ${file} is damaged, and no server starts on it. Nothing was changed.\n`),
    message,
  );
  assert.match(message, /SQLite says: .*file is not a database/);
});

test('a store with two names is no store of two servers', async () => {
  await using folder = await createFolder();
  const [first, other] = [join(folder.path, 'first'), join(folder.path, 'other')];
  for (const dir of [first, other]) await mkdir(dir, { mode: 0o700 });
  const [file, alias] = [join(first, 'errand.db'), join(other, 'errand.db')];
  const on = (dir: string) => ({ ERRAND_DATA_DIR: dir, ERRAND_DATABASE_URL: '', ERRAND_SECRET_KEY: 'k'.repeat(40) });
  const service = await startService(readConfig({ ...on(first), ERRAND_PORT: '0' }), { clock, random, log });
  await using _ = { [Symbol.asyncDispose]: () => service.stop(0) };
  await symlink(file, alias);
  assert.match(await told(folder, on(other)), /another Errand process is using \S+errand\.db/);
  await rm(alias);
  await link(file, alias);
  const refused = /other\/errand\.db has 2 names \(hard links\).*keep the one that has errand\.db-wal beside it/;
  assert.match(await told(folder, on(other)), refused);
  await assert.rejects(backupSqlite(alias, join(folder.path, 'copy.db')), refused);
  await service.stop(0);
  assert.match(await told(folder, on(other)), refused);
  await rm(alias);
  assert.equal(await told(folder, on(first)), 'it started');
});

test('a store may be a link, and is opened where it is', async () => {
  await using folder = await createFolder();
  const [dir, real] = [join(folder.path, 'data'), join(folder.path, 'real')];
  for (const made of [dir, real]) await mkdir(made, { mode: 0o700 });
  const [link, file] = [join(dir, 'errand.db'), join(real, 'errand.db')];
  const on = { ERRAND_DATA_DIR: dir, ERRAND_DATABASE_URL: '', ERRAND_SECRET_KEY: 'k'.repeat(40) };
  assert.equal(await told(folder, on), 'it started');
  await rename(link, file);
  await symlink('../real/errand.db', link);
  const service = await startService(readConfig({ ...on, ERRAND_PORT: '0' }), { clock, random, log });
  assert.ok((await readdir(real)).includes('errand.db-wal'));
  await service.stop(0);
  assert.deepEqual(await readdir(real), ['errand.db', 'errand.db-lock']);
  // What was not copied from the WAL is beside the store, and not beside the link.
  await writeFile(file, '');
  await writeFile(`${file}-wal`, 'the end of what was accepted');
  assert.match(await told(folder, on), new RegExp(`${real}/errand\\.db-wal has 28 bytes`));
  await rm(real, { recursive: true });
  const missing = /data\/errand\.db is a symbolic link to \.\.\/real\/errand\.db, which is not there: mount its disk/;
  assert.match(await told(folder, on), missing);
  assert.deepEqual((await readdir(dir)).filter((name) => name.startsWith('errand.db-')).sort(), ['errand.db-lock']);
});

const SMALL_DISK = { skip: process.getuid?.() === 0 ? false : 'mounting a small disk takes root' };

test('a disk without room is told with the file that it has no room for', SMALL_DISK, async () => {
  await using folder = await createFolder();
  const disk = join(folder.path, 'disk');
  await mkdir(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
  try {
    for (const freeKiB of [0, 32, 64, 256, 700, 800, 900]) {
      const dataDir = join(disk, `data-${freeKiB}`);
      await mkdir(dataDir);
      await writeFile(join(disk, 'fill'), Buffer.alloc((4096 - freeKiB) * 1024)).catch(() => undefined);
      const message = await told(folder, { ERRAND_DATA_DIR: dataDir });
      assert.match(message, new RegExp(`${dataDir}/\\S`), `${freeKiB} KiB: ${message}`);
      assert.doesNotMatch(message, /\n/);
      const left = (await readdir(dataDir)).filter((name) => name.endsWith('.tmp'));
      assert.deepEqual(left, [], 'no part of a key');
      await rm(dataDir, { recursive: true });
    }
    assert.equal(await told(folder, { ERRAND_DATA_DIR: join(folder.path, 'data') }), 'it started');
  } finally {
    execFileSync('umount', [disk]);
  }
});

test('only a bug is told with its stack', () => {
  assert.equal(complaintOf('text'), 'text');
  assert.match(complaintOf(new TypeError('a bug')), /^TypeError: a bug\n +at /);
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  assert.equal(complaintOf(full), full.message);
});

test('a command makes no store where there is none', async () => {
  await using folder = await createFolder();
  const config = readConfig({ ERRAND_DATA_DIR: join(folder.path, 'nothing') });
  const listing = administer(config, { clock, random, log }, (administration) =>
    Array.fromAsync(administration.listOwners()),
  );
  await assert.rejects(listing, /^CliError: there is no store at .*nothing/);
  assert.equal((await folder.contents()).size, 0);
});
