// For the end of a test file on Postgres: none of the statements that its stores have sent is a trap.

import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { wholeReads } from '../support/postgres/plans.ts';
import { newDatabase } from '../support/postgres/shared.ts';
import { sentStatements } from '../support/postgres/store.ts';

export function plansTest(): void {
  test('no statement reads a table whole that grows', async () => {
    ok(sentStatements.size > 40, `only ${sentStatements.size} statements were sent`);
    const { url, drop } = await newDatabase();
    try {
      // While the tables are empty, Postgres is most tempted to; and such a plan is kept.
      deepEqual(await wholeReads(url, sentStatements), []);
    } finally {
      await drop();
    }
  });
}
