// Counters that transactions change together with the rows, so that no reader has to count: the ledger's open states, and how
// much of each listener waits and is under way. Only a fault of this program or of its storage makes a counter wrong; work
// behind a wrong counter would wait for ever. So counters are compared with the rows from time to time.

export const REPAIR_KINDS = ['ledger', 'waiting', 'taken', 'ready'] as const;

/**
 * `ledger`: how many runs or deliveries of an owner are in one open state. `waiting` and `taken`: how many of one listener wait
 * and are under way. `ready`: when the listener's queue is next looked at.
 */
export type RepairKind = (typeof REPAIR_KINDS)[number];

/** A counter that was corrected. */
export interface Repair {
  readonly kind: RepairKind;
  readonly ownerId: string | null;
  /** The fact of the ledger, or the listener. */
  readonly of: string;
  readonly counted: number;
  /** The number of rows. */
  readonly found: number;
}

export interface CounterCheck {
  /** False: another node has checked since then, or more is open than is counted at once. */
  readonly isChecked: boolean;
  readonly repairs: readonly Repair[];
}

export interface CounterStore {
  /**
   * Compares the counters of open work with the rows, and corrects those that differ, also while others write: a counter that
   * is right is never changed. Does nothing when some node has checked since `sinceMs`.
   */
  repairCounters(sinceMs: number): Promise<CounterCheck>;
}
