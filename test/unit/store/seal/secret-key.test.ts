// The operator's key for an SQLite store, through its whole life, with servers of their own.

import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { timesOf } from '../../../support/data/thorough.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { spawnErrand } from '../../../support/process.ts';
import { call } from '../command.ts';
import {
  commanded,
  commandsIn,
  fileOf,
  keptKey,
  keyFile,
  keyIn,
  makeWebhook,
  OTHER,
  onSqlite,
  refusalOf,
  replacedAtStart,
  SETTING,
  secretOf,
} from './sealed.ts';

const WITH = { ERRAND_SECRET_KEY: SETTING };

/** One line, no stack, and as for other bad settings. */
function assertRefused(said: string, why: RegExp): void {
  match(said, why);
  match(said, /^errand exited with 1: errand: [^\n]*\n$/);
}

async function logOf(env: Record<string, string>): Promise<string> {
  await using errand = await spawnErrand(env);
  return errand.stderr();
}

test('without a setting a key file is made, once', async () => {
  await using folder = await createFolder();
  const env = onSqlite(folder.path);
  const { id, secret } = await makeWebhook(env);
  equal((await stat(keyFile(folder.path))).mode & 0o777, 0o600);
  const key = await keyIn(folder.path);
  match(String(keptKey(folder.path)), /^wrapped1:hkdf:/);
  equal(await refusalOf(env), '');
  equal(await keyIn(folder.path), key);
  equal(await secretOf(env, id), secret);
  ok(![...(await folder.contents()).values()].some((bytes) => bytes.includes(secret)));
});

test('with the setting no key is in the data dir', async () => {
  await using folder = await createFolder();
  const env = onSqlite(folder.path, WITH);
  const { id, secret } = await makeWebhook(env);
  ok(!existsSync(keyFile(folder.path)));
  match(String(keptKey(folder.path)), /^wrapped1:scrypt:/);
  equal(await secretOf(env, id), secret);
  const bytes = [...(await folder.contents()).values()];
  ok(!bytes.some((text) => text.includes(secret) || text.includes(SETTING)));
});

test('a missing key stops the start before anything is written', async () => {
  await using folder = await createFolder();
  const env = onSqlite(folder.path);
  const { id, secret } = await makeWebhook(env);
  const aside = join(folder.path, 'aside');
  await rename(keyFile(folder.path), aside);
  const before = await fileOf(folder.path);
  assertRefused(await refusalOf(env), /is missing: set ERRAND_SECRET_KEY to it, or put its file secret-key back/);
  const owners = await call(['owners', 'list'], env);
  deepEqual([owners.status, owners.stdout], [1, '']);
  match(owners.stderr, /^errand: the key for the secrets of this store is missing[^\n]*\n$/);
  deepEqual(await fileOf(folder.path), before);
  ok(!existsSync(keyFile(folder.path)), 'a new key would open nothing');
  await rename(aside, keyFile(folder.path));
  equal(await secretOf(env, id), secret);
});

test('a wrong key stops the start before anything is written', async () => {
  await using folder = await createFolder();
  await makeWebhook(onSqlite(folder.path, WITH));
  const before = await fileOf(folder.path);
  const wrong = await refusalOf(onSqlite(folder.path, { ERRAND_SECRET_KEY: OTHER }));
  assertRefused(wrong, /with another key than the one in ERRAND_SECRET_KEY: set/);
  ok(!wrong.includes(OTHER) && !wrong.includes(SETTING));
  await writeFile(keyFile(folder.path), OTHER);
  assertRefused(await refusalOf(onSqlite(folder.path)), /with another key than the one in \S+\/secret-key: set/);
  await writeFile(keyFile(folder.path), 'no key');
  assertRefused(await refusalOf(onSqlite(folder.path)), /secret-key: what is in it is not a key of at least 32/);
  deepEqual(await fileOf(folder.path), before);
  await rm(keyFile(folder.path));
  equal(await refusalOf(onSqlite(folder.path, WITH)), '');
});

test('a new setting takes the place of the file', async () => {
  await using folder = await createFolder();
  const { id, secret } = await makeWebhook(onSqlite(folder.path));
  const key = await keyIn(folder.path);
  const replaced = /"level":40[^\n]*"replaced":"[^"]*secret-key","by":"ERRAND_SECRET_KEY"[^\n]*was replaced/;
  match(await logOf(onSqlite(folder.path, WITH)), replaced);
  doesNotMatch(await logOf(onSqlite(folder.path, WITH)), /was replaced/, 'once');
  deepEqual(await commandsIn(onSqlite(folder.path, WITH)), [replacedAtStart()]);
  match(String(keptKey(folder.path)), /^wrapped1:scrypt:/);
  equal(await keyIn(folder.path), key, 'the file is not touched');
  assertRefused(
    await refusalOf(onSqlite(folder.path)),
    /another key than the one in \S+secret-key.* was replaced since/,
  );
  await rm(keyFile(folder.path));
  equal(await secretOf(onSqlite(folder.path, WITH), id), secret);
});

test('a start that was killed while it made the key goes on', async (t) => {
  let isKilled = true;
  for (let at = 1; isKilled; at += timesOf(1, 3)) {
    await using folder = await createFolder();
    const dieAt = { NODE_OPTIONS: `--import=${join(import.meta.dirname, '../die-at.ts')}`, DIE_AT: String(at) };
    ok(at < 100, 'it is not killed for ever');
    isKilled = (await refusalOf(onSqlite(folder.path, dieAt))) !== '';
    if (!isKilled) {
      t.diagnostic(`killed at the points before ${at}`);
      ok(at > 5, 'none of them was overlooked');
      break;
    }
    // Nothing is sealed before the key has come to stay.
    equal(keptKey(folder.path), null, `killed before call ${at}`);
    const { id, secret } = await makeWebhook(onSqlite(folder.path));
    notEqual(keptKey(folder.path), null);
    equal(await secretOf(onSqlite(folder.path), id), secret);
  }
});

test('the key is replaced from a file or from standard input', async () => {
  await using folder = await createFolder();
  const env = onSqlite(folder.path);
  const { id, secret } = await makeWebhook(env);
  const file = join(folder.path, 'new-key');
  await writeFile(file, `${OTHER}\n`);
  const done = await call(['store', 'rekey', '--to-file', file, '--json'], env);
  deepEqual([done.status, done.stderr, done.json().rekeyed], [0, '', true]);
  ok(!done.stdout.includes(OTHER));
  assertRefused(await refusalOf(env), /another key than the one in \S+secret-key/);
  await rename(file, keyFile(folder.path));
  equal(await secretOf(env, id), secret);
  const again = await call(['store', 'rekey'], env, `${SETTING}\n`);
  deepEqual([again.status, again.stderr], [0, '']);
  await rm(keyFile(folder.path));
  equal(await secretOf(onSqlite(folder.path, WITH), id), secret);
  const once = commanded('rekeyStore', 'errand store rekey');
  deepEqual(await commandsIn(onSqlite(folder.path, WITH)), [once, once]);
});

test('a key is not replaced without the old one', async () => {
  await using folder = await createFolder();
  const { id, secret } = await makeWebhook(onSqlite(folder.path, WITH));
  const before = keptKey(folder.path);
  const cases = [
    [onSqlite(folder.path), OTHER, /^errand: the key for the secrets of this store is missing/, 1],
    [onSqlite(folder.path, { ERRAND_SECRET_KEY: OTHER }), OTHER, /another key than the one in ERRAND_SECRET_KEY/, 1],
    [onSqlite(folder.path, WITH), 'too short', /^errand: the new key is not a key of at least 32/, 2],
    [onSqlite(join(folder.path, 'nowhere')), OTHER, /^errand: there is no store at/, 3],
  ] as const;
  for (const [env, input, why, code] of cases) {
    const { status, stdout, stderr } = await call(['store', 'rekey'], env, input);
    deepEqual([status, stdout], [code, '']);
    match(stderr, why);
  }
  const noFile = await call(['store', 'rekey', '--to-file', join(folder.path, 'none')], onSqlite(folder.path, WITH));
  match(noFile.stderr, /^errand: \S+none cannot be read/);
  {
    await using _ = await spawnErrand(onSqlite(folder.path, WITH));
    const running = await call(['store', 'rekey'], onSqlite(folder.path, WITH), OTHER);
    match(running.stderr, /another Errand process is using/);
  }
  equal(keptKey(folder.path), before);
  equal(await secretOf(onSqlite(folder.path, WITH), id), secret);
  deepEqual(await commandsIn(onSqlite(folder.path, WITH)), [], 'what was refused was not done');
});

test('the settings are shown without the key', async () => {
  const { stdout, stderr } = await call(['config', '--local'], WITH);
  match(stdout, /^ERRAND_SECRET_KEY +\(set, secret\)/m);
  ok(!(stdout + stderr).includes(SETTING));
});
