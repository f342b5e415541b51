// Reads of the log forwards, as it grows. Same promises as store.ts.

import type { EmissionRecord } from './records.ts';

/** The emissions of one emitter, or all errors of an owner, that lists show. */
export interface EmissionFilter {
  readonly ownerId: string;
  /** The owner's own id: all emitters of the owner, and `name` is `$errors`. */
  readonly emitterId: string;
  /** As in a subscription: empty for the default channel, `*` for all names that do not begin with `$`. */
  readonly name: string;
}

/** Entries behind `after`, up to and including `upTo`. */
export interface Stretch {
  readonly after: number;
  readonly upTo: number;
}

/** An emission, and where the original event of an error stands in its body. */
export interface LoggedRecord extends EmissionRecord {
  readonly original: { readonly start: number; readonly length: number } | null;
}

/** Returns whether a channel has the errors of all emitters of its owner. */
export function isOfOwner({ ownerId, emitterId }: EmissionFilter): boolean {
  return emitterId === ownerId;
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
  emissionsAfter(channel: EmissionFilter, stretch: Stretch, withBody: boolean): Promise<readonly LoggedRecord[]>;
  /** Returns the emitters of the emissions that lists show, and the owners whose errors are among them. */
  emittersAfter(stretch: Stretch): Promise<ReadonlySet<string>>;
}
