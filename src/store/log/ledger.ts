// Changes to the ledger, collected during a transaction.

export type WorkKind = 'runs' | 'deliveries';

/** A change of state; `from` null: the work is new. */
export interface StateChange {
  readonly from: string | null;
  readonly to: string;
  /** How many; default: 1. */
  readonly n?: number;
}

export class LedgerChanges {
  /** Owner → fact → change. */
  readonly #changes = new Map<string, Map<string, number>>();

  /** Changes a fact, e.g. `runs.queued`, by `by`. */
  count(ownerId: string, fact: string, by: number): void {
    const facts = this.#changes.get(ownerId) ?? new Map<string, number>();
    this.#changes.set(ownerId, facts);
    facts.set(fact, (facts.get(fact) ?? 0) + by);
  }

  /** Counts runs or deliveries that changed their state. */
  moved(ownerId: string, kind: WorkKind, { from, to, n = 1 }: StateChange): void {
    if (from === to || n === 0) return;
    if (from !== null) this.count(ownerId, `${kind}.${from}`, -n);
    this.count(ownerId, `${kind}.${to}`, n);
  }

  /** Returns the owners of whom a fact was changed, also back to what it was. */
  ownerIds(): Iterable<string> {
    return this.#changes.keys();
  }

  /** Returns the facts that changed. */
  *changes(): Generator<readonly [ownerId: string, fact: string, by: number], void> {
    for (const [ownerId, facts] of this.#changes) {
      for (const [fact, by] of facts) if (by !== 0) yield [ownerId, fact, by];
    }
  }
}
