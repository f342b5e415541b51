// The search of a group's errors reads the log along the index of groups, whatever else is asked.

import { deepEqual, equal } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Dialect, render, type Sql } from '../../../../src/store/config/sql.ts';
import type { ErrorSearch } from '../../../../src/store/contract/search.ts';
import { errorSearches } from '../../../../src/store/log/search/error-search.ts';
import { TestClock } from '../../../contract/fixtures.ts';
import { indexesRead } from '../../../support/postgres/plans.ts';
import { newDatabase } from '../../../support/postgres/shared.ts';
import { newFolder, openSqliteIn, removeFolder } from '../../../support/sqlite/store.ts';

const OTHERS: readonly Partial<ErrorSearch>[] = [
  {},
  { emitterId: 'p_1' },
  { code: 'A' },
  { emitterId: 'p_1', code: 'A', sinceMs: 1, untilMs: 2 },
  { text: 'wrong', told: false },
];

/** What the search of a group reads of the log, in every way in which its statements differ. */
async function statementsFor(dialect: Dialect<unknown>): Promise<readonly string[]> {
  const read: string[] = [];
  const never = () => Promise.reject(new Error('not read'));
  const database = {
    get: async (_group: Sql) => ({ id: 'eg_1' }),
    planned: async (statement: Sql) => {
      read.push(render(statement, dialect).text);
      return [];
    },
    all: never,
    write: never,
  };
  const log = { database, now: never, suspectCounters: never, storeTag: '', seal: never };
  const { searchErrors } = errorSearches(log as unknown as Parameters<typeof errorSearches>[0]);
  for (const more of OTHERS) {
    for (const page of [{ limit: 10 }, { limit: 10, before: 1 }]) {
      await searchErrors({ ownerId: 'o_1', groupId: 'eg_1', ...more }, page, false);
    }
  }
  equal(read.length, 18, 'pages, and counts of those that the heads decide');
  return [...new Set(read)];
}

const dialect = (kind: 'sqlite' | 'postgres', placeholder: (n: number) => string): Dialect<unknown> => ({
  kind,
  placeholder,
  value: (cell) => cell,
  list: (cells) => cells,
  rows: () => 'none',
});

test('on SQLite', async () => {
  const folder = await newFolder();
  await openSqliteIn(folder, { clock: new TestClock() }).close();
  const db = new DatabaseSync(join(folder, 'errand.db'));
  for (const statement of await statementsFor(dialect('sqlite', () => '?'))) {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${statement}`).all();
    const steps = plan.map(({ detail }) => String(detail)).filter((detail) => /emissions|TEMP B-TREE/.test(detail));
    deepEqual(steps, ['SEARCH emissions USING INDEX emissions_group (group_id>? AND group_id<?)'], statement);
  }
  db.close();
  await removeFolder(folder);
});

test('on Postgres', async () => {
  const { url, drop } = await newDatabase();
  try {
    for (const statement of await statementsFor(dialect('postgres', (n) => `$${n}`))) {
      deepEqual(await indexesRead(url, statement), ['emissions_group'], statement);
    }
  } finally {
    await drop();
  }
});
