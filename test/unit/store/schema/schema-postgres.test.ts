// What the migrations make in a Postgres database, and which databases are not opened: as schema-sqlite.test.ts.

import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StoreUnavailable } from '../../../../src/store/contract/unavailable.ts';
import type { TransactionConnection } from '../../../../src/store/postgres/connection/transaction-connection.ts';
import { MIGRATIONS, migrate, SCHEMA_VERSION } from '../../../../src/store/postgres/maintenance/schema.ts';
import { catalogueOf } from '../../../support/postgres/catalogue.ts';
import { queryOn } from '../../../support/postgres/databases.ts';
import { newDatabaseOn } from '../../../support/postgres/fresh.ts';
import { sharedPostgres } from '../../../support/postgres/shared.ts';
import { openTestStore } from '../../../support/postgres/store.ts';

const HASHES = ['5F-pm_wXiOsxUcvGIWr1NEdoiQoFIGw1p0zV5VbkmLY', 'Uonb_eUr1qg4jjkWZezyoDSRD2f3zhibL7slhRyDGpA'];

/** What the migrations themselves are kept in. */
const VERSIONS = `CREATE TABLE errand_schema (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`;

async function database(t: TestContext, options = { isBlank: false }): Promise<string> {
  const { url, drop } = await newDatabaseOn(await sharedPostgres(), options);
  t.after(drop);
  return url;
}

test('released migrations are never changed', () => {
  deepEqual(
    MIGRATIONS.map((sql) => createHash('sha256').update(sql).digest('base64url')),
    HASHES,
  );
});

test('each migration makes the schema that was released', async (t) => {
  const url = await database(t, { isBlank: true });
  await queryOn(url, VERSIONS);
  for (const [i, sql] of MIGRATIONS.entries()) {
    await queryOn(url, sql);
    const frozen = join(import.meta.dirname, `${String(i + 1).padStart(3, '0')}-postgres.txt`);
    t.assert.fileSnapshot(await catalogueOf(url), frozen, { serializers: [String] });
  }
});

test('a store that is opened has the schema of all migrations', async (t) => {
  const url = await database(t, { isBlank: true });
  await (await openTestStore({ url, clock: null })).close();
  const newest = join(import.meta.dirname, `${String(MIGRATIONS.length).padStart(3, '0')}-postgres.txt`);
  equal(await catalogueOf(url), await readFile(newest, 'utf8'));
  const versions = await queryOn(url, 'SELECT version FROM errand_schema ORDER BY version');
  deepEqual(
    versions.map(({ version }) => version),
    MIGRATIONS.map((_, i) => 100 + i),
  );
});

test('a database of a newer schema is not opened', async (t) => {
  const url = await database(t);
  await queryOn(url, `INSERT INTO errand_schema (version) VALUES (${SCHEMA_VERSION + 1})`);
  await rejects(openTestStore({ url, clock: null }), (error) => {
    equal(
      (error as Error).message,
      `the database has schema ${SCHEMA_VERSION + 1}, and this program knows only ${SCHEMA_VERSION}: a newer Errand wrote it`,
    );
    return error instanceof StoreUnavailable;
  });
  deepEqual(await queryOn(url, 'SELECT * FROM nodes'), []);
});

test('a database of a version before the first release is not opened', async (t) => {
  for (const version of [1, 13, 99]) {
    const url = await database(t, { isBlank: true });
    await queryOn(url, `${VERSIONS}; INSERT INTO errand_schema (version) VALUES (${version})`);
    const before = await catalogueOf(url);
    await rejects(openTestStore({ url, clock: null }), (error) => {
      match(
        (error as Error).message,
        new RegExp(`^the database has schema ${version}, made by a version before the first`),
      );
      return error instanceof StoreUnavailable;
    });
    equal(await catalogueOf(url), before);
  }
});

test('a database that cannot store all texts is not opened', async (t) => {
  const databases = await sharedPostgres();
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    const name = `errand_test_${encoding.toLowerCase()}_${process.pid}`;
    await databases.query(
      `CREATE DATABASE ${name} TEMPLATE template0 ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C'`,
    );
    t.after(() => databases.dropDatabase(name));
    const url = databases.url(name);
    await rejects(openTestStore({ url, clock: null }), (error) => {
      equal(
        (error as Error).message,
        `the database ${name} has the encoding ${encoding}, which cannot store all texts: create one with ENCODING 'UTF8' TEMPLATE template0`,
      );
      return error instanceof StoreUnavailable;
    });
    equal(await catalogueOf(url), '\n');
  }
});

/** Fails so often with that code. */
function failing(code: string, times: number) {
  let tries = 0;
  const transact = async (): Promise<void> => {
    tries++;
    const cause = Object.assign(new Error('refused'), { code });
    if (tries <= times) throw new StoreUnavailable('refused', { cause });
  };
  return { connection: { transact } as unknown as TransactionConnection, tries: () => tries };
}

test('a process waits for as long as another one migrates', async () => {
  const waiting = failing('55P03', 20);
  let told = 0;
  await migrate(waiting.connection, () => told++);
  equal(waiting.tries(), 21);
  equal(told, 1, 'once');
  const refused = failing('42501', 1);
  await rejects(migrate(refused.connection), StoreUnavailable);
  equal(refused.tries(), 1);
});
