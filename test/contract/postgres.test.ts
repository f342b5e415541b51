// The store contract on the newest Postgres, on the server that the whole run shares.

import { deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { postgresHarness } from '../support/postgres/contract.ts';
import { wholeReads } from '../support/postgres/plans.ts';
import { newDatabase, sharedPostgres } from '../support/postgres/shared.ts';
import { sentStatements } from '../support/postgres/store.ts';
import { storeContract } from './store.ts';

storeContract('postgres', postgresHarness(sharedPostgres, 0.15));

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
