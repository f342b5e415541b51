// What a backend offers for the windows in which mails about errors are counted (../digests.ts, ../write-emission.ts).

import type { DigestWindow } from '../../../domain/delivery/digest.ts';
import type { Emission } from '../../../domain/emission.ts';
import type { GroupNotices } from './group-notices.ts';

export interface DigestStore {
  /** Returns the open window, or null; once it was read, what the group of the key says is known, too. */
  digestWindow(ownerId: string, digestKey: string): DigestWindow | null;
  groupNotices(ownerId: string, digestKey: string): GroupNotices | null;
  openDigest(digest: OpenedDigest): void;
  countInDigest(ownerId: string, digestKey: string, newestEntry: number): void;
  /** Changes a window that was read; its newest mail stays. */
  changeDigest(ownerId: string, digestKey: string, window: DigestWindow): void;
  /** Returns some of the windows that are over. */
  closedDigests(): readonly ClosedDigest[];
  endDigest(ownerId: string, digestKey: string): void;
}

export interface OpenedDigest {
  readonly ownerId: string;
  readonly digestKey: string;
  readonly openedAtMs: number;
  readonly closesAtMs: number;
  readonly repeats: number;
  /** The newest mail: the digest is made from it. */
  readonly newestEntry: number;
}

export interface ClosedDigest extends Pick<OpenedDigest, 'ownerId' | 'digestKey'> {
  readonly window: DigestWindow;
  /** Null: retention has deleted it. */
  readonly newest: Emission | null;
  /** Why its mail is not sent; null: it is. */
  readonly withheld: GroupNotices['withheld'];
}
