// Changes to the ledger, collected while a transaction is planned.

import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';

export type WorkKind = 'runs' | 'deliveries';

export class Ledger {
  /** Owner → fact → change. */
  readonly #changes = new Map<string, Map<string, number>>();

  /** Changes a fact, e.g. `runs.queued`, by `by`. */
  count(ownerId: string, fact: string, by: number): void {
    const facts = this.#changes.get(ownerId) ?? new Map<string, number>();
    this.#changes.set(ownerId, facts);
    facts.set(fact, (facts.get(fact) ?? 0) + by);
  }

  /** Counts `n` runs or deliveries that changed from one state to another; null: they are new. */
  moved(ownerId: string, kind: WorkKind, states: { from: string | null; to: string; n?: number }): void {
    const { from, to, n = 1 } = states;
    if (from === to || n === 0) return;
    if (from !== null) this.count(ownerId, `${kind}.${from}`, -n);
    this.count(ownerId, `${kind}.${to}`, n);
  }

  /** Sends the changes with one statement. `slot`: of this node, see the table. */
  write(tx: Tx, slot: number): void {
    const owners: string[] = [];
    const facts: string[] = [];
    const changes: number[] = [];
    for (const [ownerId, of] of this.#changes) {
      for (const [fact, by] of of) {
        if (by === 0) continue;
        owners.push(ownerId);
        facts.push(fact);
        changes.push(by);
      }
    }
    if (owners.length === 0) return;
    void tx.query(
      `INSERT INTO ledger (owner_id, fact, slot, n)
        SELECT o, f, $4::smallint, n FROM unnest($1::text[], $2::text[], $3::bigint[]) AS c (o, f, n) ORDER BY o, f
        ON CONFLICT (owner_id, fact, slot) DO UPDATE SET n = ledger.n + excluded.n`,
      arrayLiteral(owners),
      arrayLiteral(facts),
      arrayLiteral(changes),
      slot,
    );
  }
}
