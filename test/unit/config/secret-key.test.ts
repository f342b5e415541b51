// Where the operator's keys come from, and the file that is made.

import { deepEqual, equal, match, throws } from 'node:assert/strict';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, dataPaths, readConfig } from '../../../src/server/config.ts';
import { random } from '../../../src/server/real-ports.ts';
import { makeSecretKeyFile, secretKeysOf } from '../../../src/server/secret-key.ts';
import { createFolder } from '../../support/folders/folder.ts';

const SETTING = 'correct-horse-battery-staple-and-more';
const DATABASE = 'postgres://localhost/errand';

test('a made key is in its file, for its user alone', async () => {
  await using folder = await createFolder();
  const file = dataPaths(folder.path).secretKey;
  const made = makeSecretKeyFile(file, random);
  equal(await readFile(file, 'utf8'), `${made.key}\n`);
  deepEqual([made.from, (await stat(file)).mode & 0o777], [file, 0o600]);
  deepEqual(await readdir(folder.path), ['secret-key']);
  deepEqual(secretKeysOf(readConfig({ ERRAND_DATA_DIR: folder.path })), [made]);
});

test('a key that is there is never overwritten', async () => {
  await using folder = await createFolder();
  const file = dataPaths(folder.path).secretKey;
  await writeFile(file, 'precious');
  throws(() => makeSecretKeyFile(file, random), /EEXIST/);
  equal(await readFile(file, 'utf8'), 'precious');
});

test('what a killed start has left is in nobody’s way', async () => {
  await using folder = await createFolder();
  const file = dataPaths(folder.path).secretKey;
  const elsewhere = join(folder.path, 'elsewhere');
  await symlink(elsewhere, `${file}.new`);
  const { key } = makeSecretKeyFile(file, random);
  equal((await readFile(file, 'utf8')).trim(), key);
  deepEqual(await readdir(folder.path), ['secret-key']);
});

test('the setting comes before the file', async () => {
  await using folder = await createFolder();
  const env = { ERRAND_DATA_DIR: folder.path };
  deepEqual(secretKeysOf(readConfig(env)), []);
  const made = makeSecretKeyFile(dataPaths(folder.path).secretKey, random);
  const setting = { key: SETTING, from: 'ERRAND_SECRET_KEY', isShared: true };
  deepEqual(secretKeysOf(readConfig({ ...env, ERRAND_SECRET_KEY: SETTING })), [setting, made]);
  // Of several processes, only this one may have the file.
  const shared = { ...env, ERRAND_DATABASE_URL: DATABASE };
  deepEqual(secretKeysOf(readConfig(shared)), [{ ...made, isShared: false }]);
});

test('a file without a key stops the start, unshown', async () => {
  await using folder = await createFolder();
  const file = dataPaths(folder.path).secretKey;
  for (const text of ['', '\n', 'too-short-to-be-one', `${SETTING}\n${SETTING}\n`]) {
    await writeFile(file, text);
    throws(
      () => secretKeysOf(readConfig({ ERRAND_DATA_DIR: folder.path })),
      (error: Error) => {
        equal(error instanceof ConfigError, true);
        match(error.message, /secret-key: what is in it is not a key of at least 32 visible ASCII characters$/);
        return text.trim() === '' || !error.message.includes(text.trim());
      },
    );
  }
});
