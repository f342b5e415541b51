// What retention deletes at the end of a round, beside emissions, on both databases. No verb shows these rows.

import { deepEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Store } from '../../../src/store/contract/store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { START_MS, strongRandom, TestClock } from '../../contract/fixtures.ts';
import { createFolder } from '../../support/folders/folder.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabase } from '../../support/postgres/shared.ts';
import { openTestStore } from '../../support/postgres/store.ts';

const NOW_MS = START_MS;
/** More than one step deletes. */
const EXPIRED = 5001;

const KEYS = `INSERT INTO idempotency (trigger_id, key, request_hash, entry, expires_at_ms)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${EXPIRED + 2})
  SELECT 'hi_1', CAST(i AS TEXT), 'hash', i, ${NOW_MS} + CASE WHEN i <= ${EXPIRED} THEN -1000000 + i ELSE 1000000 END FROM n`;
const LEFT = 'SELECT key FROM idempotency ORDER BY entry';
const OPERATIONS = `INSERT INTO operations (id, owner_id, kind, webhook_id, since_ms, until_ms, states, state, total, is_counted,
    resent, after_number, turn, created_at_ms, updated_at_ms, ended_at_ms)
  SELECT 'op_' || at, 'u_1', 'resend', 'wh_1', 0, 0, 'exhausted', 'done', 0, IS_COUNTED, 0, 0, 0, 0, 0, at
    FROM (SELECT ${NOW_MS} AS at UNION ALL SELECT ${NOW_MS} - 2) AS ended`;

async function isGone(store: Store, sql: (text: string) => Promise<readonly Record<string, unknown>[]>): Promise<void> {
  await sql(KEYS);
  deepEqual(await store.prune(NOW_MS - 1, 0), { emissions: 0, next: null });
  deepEqual(
    (await sql(LEFT)).map(({ key }) => key),
    [String(EXPIRED + 1), String(EXPIRED + 2)],
  );
  deepEqual(
    (await sql('SELECT id FROM operations ORDER BY id')).map(({ id }) => id),
    [`op_${NOW_MS}`],
  );
}

test('expired keys and ended operations go from SQLite', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'errand.db');
  const store = await openSqliteStore({ path, clock: new TestClock(), random: strongRandom });
  const db = new DatabaseSync(path);
  db.exec(OPERATIONS.replace('IS_COUNTED', '1'));
  await isGone(store, async (text) => db.prepare(text).all());
  db.close();
  await store.close();
});

test('expired keys and ended operations go from Postgres', async (t) => {
  const { url, drop } = await newDatabase();
  t.after(drop);
  const store = await openTestStore({ url, clock: new TestClock() });
  await queryOn(url, OPERATIONS.replace('IS_COUNTED', 'true'));
  await isGone(store, (text) => queryOn(url, text));
  await store.close();
});
