// Reads of the log forwards, as it grows. Same promises as store.ts.

import type { EmissionRecord } from './records.ts';

/** The emissions of one emitter, or of many of an owner, that lists show. */
export interface EmissionFilter {
  readonly ownerId: string;
  /** The owner's own id with the name `$errors`: the errors of all emitters. `*`, `p_*`, `dc_*`: all, or all of that kind. */
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

/** Returns whether a channel has the emissions of many emitters, by a wildcard. */
export function isOfMany({ emitterId }: EmissionFilter): boolean {
  return emitterId.endsWith('*');
}

/** Returns what `emittersAfter` has when there is something in a channel. */
export function announcementOf(channel: EmissionFilter): string {
  return isOfMany(channel) ? anyOf(channel.ownerId) : channel.emitterId;
}

/** Returns what stands for all emitters of an owner. */
export function anyOf(ownerId: string): string {
  return `${ownerId}/*`;
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
  /** Returns the emitters of the emissions that lists show, their owners (`anyOf`), and the owners whose errors are among them. */
  emittersAfter(stretch: Stretch): Promise<ReadonlySet<string>>;
}
