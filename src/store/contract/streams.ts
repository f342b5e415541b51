// Reads of the log forwards, as it grows. Same promises as store.ts.

import type { EmissionRecord } from './records.ts';

/** The emissions of one emitter that lists show. */
export interface Channel {
  readonly ownerId: string;
  readonly emitterId: string;
  /** As in a subscription: empty for the default channel, `*` for all names that do not begin with `$`. */
  readonly name: string;
}

/** Entries behind `after`, up to and including `upTo`. */
export interface Stretch {
  readonly after: number;
  readonly upTo: number;
}

export interface StreamStore {
  /**
   * Returns the end of the log as of this call: every emission that is committed later, by any node, has a higher entry, so a
   * reader that stops here misses nothing. Emissions of this very millisecond may lie behind it. Waits until the transactions
   * that write at this moment are over.
   */
  logEnd(): Promise<number>;
  /**
   * Returns the next emissions that lists show, oldest first: at most LIMITS.streamRecords, and none after
   * LIMITS.streamBytes of bodies. None: the whole stretch has none.
   */
  emissionsAfter(channel: Channel, stretch: Stretch, withBody: boolean): Promise<readonly EmissionRecord[]>;
  /** Returns the emitters of the emissions that lists show. */
  emittersAfter(stretch: Stretch): Promise<ReadonlySet<string>>;
}
