// Searches read along an index from the place where they begin, whatever else is asked.

import { deepEqual, equal } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Dialect, render, type Sql } from '../../../../src/store/config/sql.ts';
import type { ErrorSearch, RunSearch } from '../../../../src/store/contract/search.ts';
import { errorSearches } from '../../../../src/store/log/search/error-search.ts';
import { runSearches } from '../../../../src/store/log/search/run-search.ts';
import { TestClock } from '../../../contract/fixtures.ts';
import { indexesRead } from '../../../support/postgres/plans.ts';
import { newDatabase } from '../../../support/postgres/shared.ts';
import { newFolder, openSqliteIn, removeFolder } from '../../../support/sqlite/store.ts';

type Asked = Partial<ErrorSearch & RunSearch>;

const OF_GROUP = { groupId: 'eg_1' };
const OTHERS: readonly Asked[] = [
  {},
  { emitterId: 'p_1' },
  { code: 'A' },
  { emitterId: 'p_1', code: 'A', sinceMs: 1, untilMs: 2 },
  { text: 'wrong', told: false },
];

/** What a search reads along its index: pages in both directions, and counts of those that the heads decide. */
async function statementsOf(
  dialect: Dialect<unknown>,
  verb: 'searchErrors' | 'searchRuns',
  search: Asked,
): Promise<readonly string[]> {
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
  const reader = log as unknown as Parameters<typeof errorSearches>[0];
  const verbs = { ...errorSearches(reader), ...runSearches(reader) };
  for (const page of [{ limit: 10 }, { limit: 10, before: 1 }]) {
    await verbs[verb]({ ownerId: 'o_1', ...search }, page, false);
  }
  equal(read.length, search.text === undefined ? 4 : 2);
  return read;
}

const dialect = (kind: 'sqlite' | 'postgres', placeholder: (n: number) => string): Dialect<unknown> => ({
  kind,
  placeholder,
  value: (cell) => cell,
  list: (cells) => cells,
  rows: () => 'none',
});

const SEARCHES = [
  ...OTHERS.map((more) => ['searchErrors', { ...OF_GROUP, ...more }, 'emissions_group (group_id=? AND entry']),
  ['searchErrors', {}, 'emissions_errors (owner_id=? AND entry'],
  ['searchErrors', { code: 'A', sinceMs: 1 }, 'emissions_errors (owner_id=? AND entry'],
  ['searchErrors', { emitterId: 'p_1' }, 'emissions_channel (emitter_id=? AND name=? AND entry'],
  ['searchRuns', {}, 'runs_owner (owner_id=? AND run'],
  ['searchRuns', { text: 'a' }, 'runs_owner (owner_id=? AND run'],
  ['searchRuns', { runnableId: 'p_1' }, 'runs_runnable (runnable_id=? AND run'],
  ['searchRuns', { errorCode: 'A' }, 'runs_owner_failed (owner_id=? AND run'],
  ['searchRuns', { errorCode: 'A', runnableId: 'p_1' }, 'runs_failed (runnable_id=? AND run'],
] as [Parameters<typeof statementsOf>[1], Asked, string][];

test('on SQLite', async () => {
  const folder = await newFolder();
  await openSqliteIn(folder, { clock: new TestClock() }).close();
  const db = new DatabaseSync(join(folder, 'errand.db'));
  const sqlite = dialect('sqlite', () => '?');
  for (const [verb, search, index] of SEARCHES) {
    for (const statement of await statementsOf(sqlite, verb, search)) {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${statement}`).all();
      const steps = plan.map(({ detail }) => String(detail)).filter((detail) => /INDEX|B-TREE|SCAN run/.test(detail));
      const [, column] = / AND (\w+)$/.exec(index) ?? [];
      deepEqual(
        steps.map((step) => step.replace(/^SEARCH \w+ USING (COVERING )?INDEX /, '')),
        [`${index}>? AND ${column}<?)`],
        statement,
      );
    }
  }
  db.close();
  await removeFolder(folder);
});

test('on Postgres, of a group', async () => {
  const { url, drop } = await newDatabase();
  try {
    const postgres = dialect('postgres', (n) => `$${n}`);
    for (const more of OTHERS) {
      for (const statement of await statementsOf(postgres, 'searchErrors', { ...OF_GROUP, ...more })) {
        deepEqual(await indexesRead(url, statement), ['emissions_group'], statement);
      }
    }
  } finally {
    await drop();
  }
});
