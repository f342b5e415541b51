// Counters that transactions keep beside the rows that they count, so that no reader has to count: the ledger's open states,
// and of each listener how many wait and how many are under way. They can be wrong only by a fault of this program or of
// its storage; then what waits behind them would wait for ever. So they are compared with the rows now and then.

export const REPAIR_KINDS = ['ledger', 'waiting', 'taken', 'ready'] as const;

/**
 * `ledger`: how many runs or deliveries of an owner are in one open state. `waiting` and `taken`: how many of one workflow,
 * source or webhook wait, and are under way. `ready`: when something that waits there is looked at.
 */
export type RepairKind = (typeof REPAIR_KINDS)[number];

/** A counter that was put right. */
export interface Repair {
  readonly kind: RepairKind;
  readonly ownerId: string | null;
  /** The fact of the ledger, or the listener. */
  readonly of: string;
  readonly counted: number;
  /** By the rows. */
  readonly found: number;
}

export interface CounterCheck {
  /** False: another node has looked since then, or there is more open than is counted at once. */
  readonly isChecked: boolean;
  readonly repairs: readonly Repair[];
}

export interface CounterStore {
  /**
   * Compares the counters of what is open with its rows, and puts right what differs, whatever is written meanwhile: a
   * counter that is right is never changed. `sinceMs`: not when some node has done so since then.
   */
  repairCounters(sinceMs: number): Promise<CounterCheck>;
}
