// Watches and heartbeats (domain/watch/). Same promises as store.ts.

import type { NewEmission } from '../../domain/emission.ts';
import type { CapturedFault } from '../../domain/errors/fingerprint.ts';
import type { WatchedHeartbeat } from '../../domain/watch/heartbeat.ts';
import type { Ended, NamedWatch, Watch } from '../../domain/watch/watch.ts';
import type { Page, PageQuery } from './records.ts';

/** A watch that is due; with its heartbeat, if it has one. */
export interface DueWatch {
  readonly watch: NamedWatch;
  readonly heartbeat: WatchedHeartbeat | null;
}

/** What follows from a watch as it was read. */
export interface WatchDecision {
  /**
   * The version that was read is `next.version`: with any other one in the store, nothing is written. Nor is it when runs ended
   * since then (`next.heard`), unless the decision holds nevertheless (`holdsWhateverIsHeard`).
   */
  readonly next: Watch;
  /** Errors and recoveries that it tells. */
  readonly emissions: readonly NewEmission[];
  /** Errors that are over: their groups are resolved, if they are open. */
  readonly over: readonly CapturedFault[];
  /** When the watch is looked at next, if runs ended since it was read. */
  readonly heardDueAtMs: number | null;
  /** Counts of older parts are deleted; null: none. */
  readonly forgetBefore: number | null;
}

/** Returns a heartbeat's watch after a time without a server, or after a clock that was set back. */
export type CloseGap = (of: WatchedHeartbeat, gap: { readonly isBack: boolean; readonly nowMs: number }) => Watch;

export interface WatchStore {
  /** Returns false when the owner has `max` heartbeats already. */
  createHeartbeat(made: WatchedHeartbeat, max: number): Promise<boolean>;
  /** Applies `change` to the current heartbeat and its watch, as `updateWebhook`. Undefined: no such heartbeat. */
  updateHeartbeat(
    ownerId: string,
    id: string,
    change: (before: WatchedHeartbeat) => WatchedHeartbeat,
  ): Promise<WatchedHeartbeat | undefined>;
  getHeartbeat(ownerId: string, id: string): Promise<WatchedHeartbeat | undefined>;
  listHeartbeats(ownerId: string, page: PageQuery): Promise<Page<WatchedHeartbeat>>;
  /** Deletes a heartbeat with its subscriptions, and resolves the groups of its errors. */
  deleteHeartbeat(ownerId: string, id: string): Promise<WatchedHeartbeat | undefined>;
  /** Finds a heartbeat by the secret part of its address, also an inactive one. */
  heartbeatByKey(key: string): Promise<WatchedHeartbeat | undefined>;

  /** Returns the watches of a workflow that is active, in the order of their kinds. */
  listWatches(ownerId: string, workflowId: string): Promise<readonly Watch[]>;
  /**
   * Called before watches are judged. Keeps, about every LIMITS.watchKeptMs, that some server was there; if none was for longer
   * than LIMITS.watchGapMs, or the clock was set back, that time is no silence: watches of workflows are excused for it, and
   * `settle` changes those of heartbeats. Returns the time up to which watches may be judged.
   */
  keepWatch(settle: CloseGap): Promise<number>;
  /** Returns watches that are due, the longest due first. */
  dueWatches(upToMs: number, limit: number): Promise<readonly DueWatch[]>;
  /** Returns how many runs of a workflow ended within parts of its window, both included. */
  endedRuns(workflowId: string, parts: { readonly from: number; readonly to: number }): Promise<Ended>;
}
