// What owners want to be hidden. Same promises as store.ts.

import type { Redaction, Redactions } from '../../domain/privacy/rules.ts';

export interface RedactionStore {
  /** Returns the owners that have rules, also empty ones: all others need not be asked for. */
  ownersWithRules(): Promise<ReadonlySet<string>>;
  /** Returns all rules of an owner. Those of a deleted workflow are among them: its errors are still shown. */
  redactionsOf(ownerId: string): Promise<Redactions>;
  /**
   * Replaces the rules of the owner (by its id) or of a workflow by what `change` returns. Returns false when there is no such
   * owner or workflow.
   */
  setRedaction(ownerId: string, scopeId: string, change: (before: Redaction) => Redaction): Promise<boolean>;
}
