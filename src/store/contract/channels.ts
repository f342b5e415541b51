// Channels, and the notices that they are to get. Same promises as store.ts.

import type { ErrorGroup } from '../../domain/errors/group.ts';
import type { Channel } from '../../domain/notices/channel.ts';
import type { Workflow } from '../../domain/resource.ts';
import type { Page, PageQuery } from './records.ts';

export interface ChannelStore {
  /** Returns false, with nothing written, when the owner has `max` channels. */
  createChannel(channel: Channel, max: number): Promise<boolean>;
  /** Changes a channel as `updateAccount` does. The kind stays, too. */
  updateChannel(ownerId: string, id: string, change: (before: Channel) => Channel): Promise<Channel | undefined>;
  getChannel(ownerId: string, id: string): Promise<Channel | undefined>;
  listChannels(ownerId: string, page: PageQuery): Promise<Page<Channel>>;
  /**
   * Deletes a channel, and takes it from those of its owner. `check` is called before with the workflows whose settings name the
   * channel; when it throws, nothing is written.
   */
  deleteChannel(
    ownerId: string,
    id: string,
    check?: (usedBy: readonly Pick<Workflow, 'id' | 'name'>[]) => void,
  ): Promise<Channel | undefined>;
}

/** A notice that is due. */
export interface TakenNotice {
  readonly group: ErrorGroup;
  readonly kind: 'error' | 'digest' | 'recovered';
  /** Counts the notices of the group, from 1. A notice that is taken again has the same number. */
  readonly sequence: number;
  /** Errors since the notice before. */
  readonly more: number;
  /** A channel was told since the group opened. */
  readonly wasTold: boolean;
  /** Listeners that notices of the group were made for, as far as the log still knows. */
  readonly told: readonly ToldListener[];
  /** Of a recovery: the global error workflow has mailed an error of the group, or will. */
  readonly wasMailed: boolean;
  /** Of a recovery: summaries that told of the group, if all that they told of is over; null: there are none. */
  readonly summaries: ToldSummaries | null;
  /** It tells of this group, the newest, and of others of the same emitter, of which there were too many. Null: of no other. */
  readonly folded: FoldedGroups | null;
}

export interface ToldListener {
  readonly listenerId: string;
  /** A notice went out, or will. False: all failed, or are withheld since the group was resolved before. */
  readonly heard: boolean;
}

export interface ToldSummaries {
  readonly listenerIds: readonly string[];
  /** The number of the newest. */
  readonly newest: number;
}

export interface FoldedGroups {
  readonly ids: readonly string[];
  /** How many errors each of them had when it was taken. */
  readonly counts: readonly number[];
  /** The sum of them. */
  readonly errors: number;
  readonly leasedUntilMs: number;
}

export interface NoticeStore {
  /**
   * Takes notices that are due. One that is not reported as sent within NOTICE_LIMITS.noticeLeaseMs is taken again, with the counts and
   * the kind that it was emitted with, if it was: the caller sends it once, by an idempotency key. Of one emitter, NOTICE_LIMITS.noticesAtOnce groups are told one by one within NOTICE_LIMITS.foldMs, all
   * others in one notice behind it; that notice may come twice when a process is lost with it.
   */
  takeNotices(limit: number): Promise<readonly TakenNotice[]>;
  /** Returns whether a person has resolved all of the groups: nothing that tells of them is to be sent any more. */
  areSettled(ownerId: string, groupIds: readonly string[]): Promise<boolean>;
  /** Ends a notice that was taken: until `windowMs` are over, repeats are counted. Does nothing when it was ended before. */
  endNotice(taken: TakenNotice, windowMs: number): Promise<void>;
}
