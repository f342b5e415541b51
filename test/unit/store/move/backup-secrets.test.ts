// Backups and checks of a store with secrets: what opens them is not in the copy.

import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { copyFile, cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createFolder } from '../../../support/folders/folder.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { type Called, call } from '../command.ts';
import { emptyDatabase } from '../place.ts';
import { keyFile, makeWebhook, OTHER, onPostgres, onSqlite, refusalOf, SETTING, secretOf } from '../seal/sealed.ts';

const WITH = { ERRAND_SECRET_KEY: SETTING };

function findingsOf({ status, json }: Called): [number | null, [string, number][]] {
  const { findings } = json() as { findings: { check: string; count: number }[] };
  return [status, findings.map(({ check, count }) => [check, count])];
}

test('a copy opens only with the key of its store', async () => {
  await using folder = await createFolder();
  const [old, restored, copy] = ['old', 'restored', 'copy.db'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  const { id, secret } = await makeWebhook(onSqlite(old));
  const backup = await call(['store', 'backup', copy, '--json'], onSqlite(old));
  deepEqual([backup.status, backup.stderr], [0, '']);
  equal(backup.json().opens_with, `the key in ${keyFile(old)}: keep that, and apart`);
  await mkdir(restored);
  await copyFile(copy, join(restored, 'errand.db'));
  match(await refusalOf(onSqlite(restored)), /the key for the secrets of this store is missing/);
  await copyFile(keyFile(old), keyFile(restored));
  equal(await refusalOf(onSqlite(restored)), '');
  equal(await secretOf(onSqlite(restored), id), secret);
  ok(!(await folder.contents()).get(copy)?.includes(secret));
});

test('a backup needs no key, and says which it has', async () => {
  await using folder = await createFolder();
  const data = join(folder.path, 'data');
  await makeWebhook(onSqlite(data, WITH));
  const opensWith = async (name: string, env: Record<string, string>): Promise<string> =>
    (await call(['store', 'backup', join(folder.path, name), '--json'], env)).json().opens_with;
  equal(await opensWith('a.db', onSqlite(data, WITH)), 'the key in ERRAND_SECRET_KEY: keep that, and apart');
  equal(
    await opensWith('b.db', onSqlite(data)),
    'the key that servers are given as ERRAND_SECRET_KEY: keep that, and apart',
  );
});

test('a check on SQLite finds what does not open', async () => {
  await using folder = await createFolder();
  const { id } = await makeWebhook(onSqlite(folder.path));
  const check = (more = {}) => call(['store', 'check', '--json'], onSqlite(folder.path, more));
  deepEqual(findingsOf(await check()), [0, []]);
  await cp(keyFile(folder.path), join(folder.path, 'aside'));
  await rm(keyFile(folder.path));
  const missing = await check();
  deepEqual(findingsOf(missing), [1, [['secret_key', 3]]]);
  match(missing.stdout, /the key for the secrets of this store is missing/);
  const wrong = await check({ ERRAND_SECRET_KEY: OTHER });
  deepEqual(findingsOf(wrong), [1, [['secret_key', 3]]]);
  ok(!wrong.stdout.includes(OTHER));
  await cp(join(folder.path, 'aside'), keyFile(folder.path));
  const db = new DatabaseSync(join(folder.path, 'errand.db'));
  db.exec('UPDATE webhooks SET secrets = settings');
  db.close();
  const moved = await check();
  deepEqual(findingsOf(moved), [1, [['secret_unreadable', 1]]]);
  match(moved.stdout, new RegExp(`secrets in webhooks that cannot be opened, e\\.g\\. of ${id}`));
});

test('a check on Postgres finds what does not open', async (t) => {
  await using folder = await createFolder();
  const url = await emptyDatabase(t);
  const { id } = await makeWebhook(onPostgres(folder.path, url, WITH));
  const check = (more = {}) => call(['store', 'check', '--json'], onPostgres(folder.path, url, more));
  deepEqual(findingsOf(await check(WITH)), [0, []]);
  deepEqual(findingsOf(await check()), [1, [['secret_key', 3]]]);
  await queryOn(url, 'UPDATE webhooks SET settings = secrets');
  const moved = await check(WITH);
  deepEqual(findingsOf(moved), [1, [['secret_unreadable', 1]]]);
  match(moved.stdout, new RegExp(`settings in webhooks that cannot be opened, e\\.g\\. of ${id}`));
});
