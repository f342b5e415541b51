// Poolers in front of the database. One that lends a session for a transaction at a time (PgBouncer's pool_mode = transaction)
// takes from Errand what it relies on: its settings, its notifications and its prepared statements.

import { StoreUnavailable } from '../../contract/unavailable.ts';
import { number } from '../../rows/cells.ts';
import type { TransactionConnection, Tx } from './transaction-connection.ts';

type Transacting = Pick<TransactionConnection, 'transact'>;

/** A session may also be another one since the connection broke: not twice in a row. */
const TRIES = 2;

const POOLED =
  'the pooler in front of the database gives the transactions of one connection to different sessions (pool_mode = transaction), so that settings, notifications and prepared statements are lost: connect to the database itself, or by a pooler with pool_mode = session';

/** Rejects with `StoreUnavailable` when transactions of a connection do not stay in one session of the database. */
export async function refuseSharedSessions(one: Transacting, other: Transacting): Promise<void> {
  for (let tried = 0; tried < TRIES; tried++) {
    const before = await one.transact(processOf);
    // Meanwhile the other connection holds the session that was given back last.
    const after = await other.transact(async (tx) => {
      await processOf(tx);
      return one.transact(processOf);
    });
    if (before === after) return;
  }
  throw new StoreUnavailable(POOLED);
}

/** Returns the process of the database server that a transaction is in. */
async function processOf(tx: Tx): Promise<number> {
  const [row] = await tx.query('SELECT pg_backend_pid() AS pid');
  return row ? number(row, 'pid') : 0;
}
