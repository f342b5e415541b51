// A verb that refuses something on SQLite, beside others of its batch.

import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../../../../src/store/config/sql.ts';
import { get, send } from '../../../../src/store/config/steps.ts';
import { configDatabase } from '../../../../src/store/sqlite/config/config-database.ts';
import type { Core } from '../../../../src/store/sqlite/core.ts';
import { Connection } from '../../../../src/store/sqlite/database.ts';
import { ActiveOwners } from '../../../../src/store/sqlite/log/active-owners.ts';
import { Batch } from '../../../../src/store/sqlite/log/batch.ts';
import type { Transaction } from '../../../../src/store/sqlite/log/transaction.ts';
import { CommitSync } from '../../../../src/store/sqlite/wal/commit-sync.ts';

const NOTHING = {
  nowMs: 0,
  beforeCommit: () => undefined,
  committed: () => undefined,
  countedOwners: () => [],
  rolledBack: () => undefined,
};

function aDatabase() {
  const writer = new Connection(':memory:', false);
  writer.exec('CREATE TABLE t (n INTEGER)');
  const owners = new ActiveOwners();
  const commits = new CommitSync({ sync: () => Promise.resolve() });
  const batch = new Batch({ writer, begin: () => NOTHING as unknown as Transaction, commits, owners });
  const database = configDatabase({ writer, reader: writer, batch, owners } as unknown as Core);
  const rows = (): unknown[] => writer.all('SELECT n FROM t ORDER BY n').map((row) => row.n);
  return { database, rows };
}

test('a refusal before a write runs no other verb again', async () => {
  const { database, rows } = aDatabase();
  let runs = 0;
  const insert = database.write(function* () {
    runs++;
    yield* send(sql`INSERT INTO t VALUES (${1})`);
  });
  const refused = database.write(function* () {
    yield* get(sql`SELECT * FROM t`);
    throw new Error('refused');
  });
  await Promise.all([insert, rejects(refused, /refused/)]);
  deepEqual([runs, rows()], [1, [1]]);
});

test('a failure behind a write leaves nothing of it', async () => {
  const { database, rows } = aDatabase();
  const failed = database.write(function* () {
    yield* send(sql`INSERT INTO t VALUES (${1})`);
    throw new Error('failed');
  });
  const insert = database.write(function* () {
    yield* send(sql`INSERT INTO t VALUES (${2})`);
  });
  await Promise.all([rejects(failed, /failed/), insert]);
  deepEqual(rows(), [2]);
});

test('a statement that fails rolls its verb back', async () => {
  const { database, rows } = aDatabase();
  const verb = database.write(function* () {
    yield* send(sql`INSERT INTO t VALUES (${1})`);
    yield* get(sql`SELECT absent FROM t`);
  });
  await rejects(verb, /absent/);
  equal(rows().length, 0);
});
