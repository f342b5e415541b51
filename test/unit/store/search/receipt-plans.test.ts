// Receipts are found from the few emissions that they are of: SQLite never looks through a table of the log.

import { deepEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { render, type Sql } from '../../../../src/store/config/sql.ts';
import { causesOf } from '../../../../src/store/log/log-records.ts';
import type { LogReader } from '../../../../src/store/log/log-tables.ts';
import { TestClock } from '../../../contract/fixtures.ts';
import { newFolder, openSqliteIn, removeFolder } from '../../../support/sqlite/store.ts';

const DIALECT = {
  kind: 'sqlite',
  placeholder: () => '?',
  value: (cell: unknown) => cell,
  list: (items: unknown) => items,
  rows: () => 'none',
} as const;

test('receipts of a run are found by indexes alone', async () => {
  const folder = await newFolder();
  await openSqliteIn(folder, { clock: new TestClock() }).close();
  const db = new DatabaseSync(join(folder, 'errand.db'));
  const read: string[] = [];
  const all = async (statement: Sql): Promise<[]> => {
    read.push(render(statement, DIALECT).text);
    return [];
  };
  await causesOf({ database: { all } } as unknown as LogReader, { ownerId: 'o_1', run: 1 }, 100);
  const steps = read.flatMap((statement) => db.prepare(`EXPLAIN QUERY PLAN ${statement}`).all());
  const scanned = steps
    .map(({ detail }) => /^SCAN (\w+)/.exec(String(detail))?.[1])
    .filter((name) => name !== undefined);
  // All but the parts of the statement itself.
  deepEqual([...new Set(scanned)].sort(), ['heard', 'receipts', 'told']);
  db.close();
  await removeFolder(folder);
});
