// What the machine refuses at the start, and how it is told: by the setting's name, in one line.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { administer } from '../../../src/server/administration.ts';
import { readConfig } from '../../../src/server/config.ts';
import { clock, random } from '../../../src/server/real-ports.ts';
import { startService } from '../../../src/server/service.ts';
import { complaintOf } from '../../../src/server/startup-error.ts';
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
