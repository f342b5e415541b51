// Receipts are found from the few emissions that they are of: SQLite never looks through a table of the log.

import { deepEqual, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { whyCounted } from '../../../../src/domain/delivery/digest.ts';
import { render, type Sql } from '../../../../src/store/config/sql.ts';
import { causesOf } from '../../../../src/store/log/log-records.ts';
import type { LogReader } from '../../../../src/store/log/log-tables.ts';
import { digestedOf } from '../../../../src/store/log/search/digested.ts';
import { TestClock } from '../../../contract/fixtures.ts';
import { newFolder, openSqliteIn, removeFolder } from '../../../support/sqlite/store.ts';

const DIALECT = {
  kind: 'sqlite',
  placeholder: () => '?',
  value: (cell: unknown) => cell,
  list: (items: unknown) => items,
  rows: () => "(SELECT 1 AS entry, 'a key' AS digest_key, 1 AS behind)",
} as const;

/** The steps of the statements that `reads` makes of a store that answers with nothing. */
async function stepsOf(reads: (log: LogReader) => Promise<unknown>): Promise<readonly string[]> {
  const folder = await newFolder();
  await openSqliteIn(folder, { clock: new TestClock() }).close();
  const db = new DatabaseSync(join(folder, 'errand.db'));
  const read: string[] = [];
  const all = async (statement: Sql): Promise<[]> => {
    read.push(render(statement, DIALECT).text);
    return [];
  };
  await reads({ database: { all } } as unknown as LogReader);
  const steps = read.flatMap((statement) => db.prepare(`EXPLAIN QUERY PLAN ${statement}`).all());
  db.close();
  await removeFolder(folder);
  return steps.map(({ detail }) => String(detail));
}

const scanned = (steps: readonly string[]): string[] =>
  [...new Set(steps.flatMap((step) => /^SCAN (\w+)/.exec(step)?.[1] ?? []))].sort();

test('receipts of a run are found by indexes alone', async () => {
  const steps = await stepsOf((log) => causesOf(log, { ownerId: 'o_1', run: 1 }, 100));
  // All but the parts of the statement itself.
  deepEqual(scanned(steps), ['heard', 'receipts', 'told']);
});

test('the digest of a mail that was counted is found by its key', async () => {
  const reason = whyCounted('p_1 eg_1 0', { closesAtMs: 1, repeats: 1 });
  const steps = await stepsOf((log) => digestedOf(log, 'o_1', [{ entry: 1, digestKey: 'p_1 eg_1 0', reason }]));
  ok(
    steps.some((step) => step.startsWith('SEARCH digests USING INDEX emissions_group')),
    steps.join('\n'),
  );
  deepEqual(
    scanned(steps).filter((name) => name !== 'CONSTANT' && name !== 'json_each'),
    [],
  );
});
