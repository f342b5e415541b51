// What the migrations make in an SQLite file, and which files are not opened.
//
// A released migration is pinned by its hash, and what it makes by a file beside this one. A new migration gets both:
// `node --test --test-update-snapshots test/unit/store/schema/*.test.ts` writes the file.

import { deepEqual, equal, match, rejects, throws } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import { migrationsAfter } from '../../../../src/store/schema-version.ts';
import { MIGRATIONS, migrate, SCHEMA_VERSION } from '../../../../src/store/sqlite/maintenance/schema.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { strongRandom, TestClock } from '../../../contract/fixtures.ts';
import { BARE_ENV } from '../../../support/bare-env.ts';
import { createFolder } from '../../../support/folders/folder.ts';
import { catalogueOf } from '../../../support/sqlite/catalogue.ts';

const HASHES = ['0_4CpKefJBwGadLUCOE9qd8sXJ1MJhmVevtkU-lKI74', 'ojSQeJm6bVg1ye1yaISWpyu0PnscMvOVqzwFgQ7chJg'];

const open = (path: string) => openSqliteStore({ path, clock: new TestClock(), random: strongRandom });

/** A closed store of its own, changed by `sql`. */
async function storeWith(folder: string, sql: string): Promise<string> {
  const path = join(folder, 'errand.db');
  await (await open(path)).close();
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
  return path;
}

test('released migrations are never changed', () => {
  deepEqual(
    MIGRATIONS.map((sql) => createHash('sha256').update(sql).digest('base64url')),
    HASHES,
  );
});

test('a migration that fails leaves nothing', () => {
  const db = new DatabaseSync(':memory:');
  db.exec('CREATE TABLE ledger (n)');
  const before = catalogueOf(db);
  throws(() => migrate(db, 'a file'), /ledger already exists/);
  equal(catalogueOf(db), before);
  equal(db.isTransaction, false);
  db.close();
});

test('a migration that a disk refuses says what the disk said', async () => {
  await using folder = await createFolder();
  const url = new URL('../../../../src/store/sqlite/maintenance/schema.ts', import.meta.url);
  const program = `import { DatabaseSync } from 'node:sqlite';
    import { migrate } from ${JSON.stringify(url.href)};
    const db = new DatabaseSync('errand.db');
    db.exec('PRAGMA journal_mode = WAL');
    try { migrate(db, 'a file'); } catch (error) { process.stdout.write(error.message); }`;
  // No file may be larger than some pages: as with a full disk, SQLite ends the transaction itself.
  const args = ['-c', 'ulimit -f 64; exec "$0" --input-type=module -e "$1"', process.execPath, program];
  const { stdout, stderr } = spawnSync('sh', args, { cwd: folder.path, encoding: 'utf8', env: BARE_ENV });
  match(stdout, /^disk I\/O error$/, stderr);
});

test('each migration makes the schema that was released', (t) => {
  const db = new DatabaseSync(':memory:');
  for (const [i, sql] of MIGRATIONS.entries()) {
    db.exec(sql);
    const frozen = join(import.meta.dirname, `${String(i + 1).padStart(3, '0')}-sqlite.txt`);
    t.assert.fileSnapshot(catalogueOf(db), frozen, { serializers: [String] });
  }
  db.close();
});

test('a store that is opened has the schema of all migrations', async () => {
  await using folder = await createFolder();
  const db = new DatabaseSync(await storeWith(folder.path, ''));
  const [made, { user_version }] = [
    catalogueOf(db),
    db.prepare('PRAGMA user_version').get() as { user_version: number },
  ];
  db.close();
  const newest = join(import.meta.dirname, `${String(MIGRATIONS.length).padStart(3, '0')}-sqlite.txt`);
  equal(made, await readFile(newest, 'utf8'));
  deepEqual([user_version, SCHEMA_VERSION], [99 + MIGRATIONS.length, 99 + MIGRATIONS.length]);
});

test('a store of a newer schema is not opened and stays as it is', async () => {
  await using folder = await createFolder();
  const path = await storeWith(
    folder.path,
    `CREATE TABLE newer (n INTEGER); PRAGMA user_version = ${SCHEMA_VERSION + 1}`,
  );
  const before = await readFile(path);
  await rejects(open(path), (error) => {
    equal(
      (error as Error).message,
      `${path} has schema ${SCHEMA_VERSION + 1}, and this program knows only ${SCHEMA_VERSION}: a newer Errand wrote it`,
    );
    return error instanceof StoreUnavailable;
  });
  deepEqual(await readFile(path), before);
});

test('a store of a version before the first release is not opened', async () => {
  for (const version of [1, 13, 99]) {
    await using folder = await createFolder();
    const path = await storeWith(folder.path, `PRAGMA user_version = ${version}`);
    const before = await readFile(path);
    await rejects(open(path), (error) => {
      match(
        (error as Error).message,
        new RegExp(`^${path} has schema ${version}, made by a version before the first release`),
      );
      return error instanceof StoreUnavailable;
    });
    deepEqual(await readFile(path), before);
  }
});

test('a store gets the migrations that it lacks', () => {
  const all = ['first', 'second', 'third'];
  const lacking = (at: number) => migrationsAfter(at, all, 'a store').map(({ sql, schema }) => [sql, schema]);
  deepEqual(lacking(0), [
    ['first', 100],
    ['second', 101],
    ['third', 102],
  ]);
  deepEqual(lacking(100), [
    ['second', 101],
    ['third', 102],
  ]);
  deepEqual(lacking(102), []);
});
