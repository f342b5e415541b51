// Writes changes to the ledger.

import type { LedgerChanges } from '../../log/ledger.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';

/** Sends the changes with one statement. `slot`: of this node, see the table. */
export function writeLedger(tx: Tx, ledger: LedgerChanges, slot: number): void {
  const changes = [...ledger.changes()];
  if (changes.length === 0) return;
  void tx.query(
    `INSERT INTO ledger (owner_id, fact, slot, n)
      SELECT o, f, $4::smallint, n FROM unnest($1::text[], $2::text[], $3::bigint[]) AS c (o, f, n) ORDER BY o, f
      ON CONFLICT (owner_id, fact, slot) DO UPDATE SET n = ledger.n + excluded.n`,
    arrayLiteral(changes.map(([ownerId]) => ownerId)),
    arrayLiteral(changes.map(([, fact]) => fact)),
    arrayLiteral(changes.map(([, , by]) => by)),
    slot,
  );
}
