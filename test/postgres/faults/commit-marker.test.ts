// The marks that transactions leave behind, when a network holds one of them up: the transaction was given up, and arrives
// when a later one of the same connection has long been committed.

import { deepEqual, equal } from 'node:assert/strict';
import { it } from 'node:test';
import postgres, { type Sql } from 'postgres';
import { CommitMarkers } from '../../../src/store/postgres/connection/commit-marker.ts';
import { DatabaseSession } from '../../../src/store/postgres/connection/database-session.ts';
import type { Value } from '../../../src/store/postgres/connection/values.ts';
import { queryOn } from '../../support/postgres/databases.ts';
import { newDatabase } from '../../support/postgres/shared.ts';

type Statement = readonly [sql: string, values: readonly Value[]];

/** The mark of the connection's next transaction, not sent yet. */
function leaveLater(marks: CommitMarkers): { mark: number; statement: Statement } {
  let statement: Statement | undefined;
  const mark = marks.leave((sql, values) => {
    statement = [sql, values];
  });
  return { mark, statement: statement as Statement };
}

async function commitWith(sql: Sql, [text, values]: Statement): Promise<string> {
  const rows = await sql.begin(async (tx) => {
    await tx.unsafe(text, values as never[]);
    return tx.unsafe('SELECT pg_current_xact_id()::text AS xid');
  });
  return rows[0]?.xid;
}

it('takes no later commit back when an earlier one arrives', async () => {
  const { url, drop } = await newDatabase();
  await using parts = new AsyncDisposableStack();
  parts.defer(drop);
  const sql = postgres(url, { max: 2 });
  parts.defer(() => sql.end({ timeout: 1 }));
  const session = await DatabaseSession.open({ url, name: 'errand test' });
  parts.defer(() => session.close());
  const marks = new CommitMarkers('one');
  const heldUp = leaveLater(marks);
  const later = leaveLater(marks);
  const xid = await commitWith(sql, later.statement);
  await commitWith(sql, heldUp.statement);
  const asked = marks.outcomeOf((text, ...values) => session.query(text, ...values), { mark: later.mark, xid });
  equal(await asked, 'committed');
  deepEqual(await queryOn(url, "SELECT n::int FROM commit_markers WHERE connection = 'one'"), [{ n: later.mark }]);
});
