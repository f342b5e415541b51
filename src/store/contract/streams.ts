// The log read forwards, as it grows. Same promises as store.ts.

import type { EmissionRecord } from './records.ts';

/** What one emitter emits, as its lists show it. */
export interface Channel {
  readonly ownerId: string;
  readonly emitterId: string;
  /** As a subscription has it: empty for the default one, `*` for all names that do not begin with `$`. */
  readonly name: string;
}

/** Entries behind `after`, up to `upTo` and with it. */
export interface Stretch {
  readonly after: number;
  readonly upTo: number;
}

export interface StreamStore {
  /**
   * The end of the log, as of this call: all that was committed before it has a lower entry or this one, but for what is
   * of this very millisecond; whatever is committed later has a higher one. So a reader that reads up to here misses nothing,
   * wherever it is written. Waits until those who write at this moment are done.
   */
  logEnd(): Promise<number>;
  /**
   * Emissions that lists show, oldest first: the next ones, as many as a step takes (LIMITS.streamRecords, and no further
   * one beyond LIMITS.streamBytes of bodies). None: there is nothing in the whole stretch.
   */
  emissionsAfter(channel: Channel, stretch: Stretch, withBody: boolean): Promise<readonly EmissionRecord[]>;
  /** Who has emitted what lists show. */
  emittersAfter(stretch: Stretch): Promise<ReadonlySet<string>>;
}
