// Deleting owners. The state of a deletion is in the owner's row (`Owner.deletion`); the janitor makes its steps. From the
// deletion on, emissions of the owner are kept and nothing begins for them (domain/route.ts), and its ticks, watches, later
// emissions and notices are not due. What was open when it was asked for is cancelled by the first steps.

import type { AuditRecord } from '../../domain/audit.ts';
import type { Emission } from '../../domain/emission.ts';
import type { Owner } from '../../domain/resource.ts';
import type { CloseGap } from './watches.ts';

/** Makes the record of a purge in the log of another owner. */
export type PurgeRecord = (purged: Owner, logOwnerId: string) => AuditRecord;

/** What a step has found for the owners that are being deleted. */
export interface OwnerSweep {
  /** Another step may follow at once. */
  readonly isMore: boolean;
  /** When the next step may do something; null: there is nothing to wait for. */
  readonly nextAtMs: number | null;
  /** Runs that hinder a purge: the node that executes one is to stop it. */
  readonly running: readonly { readonly ownerId: string; readonly run: number }[];
  /**
   * Enabled sources of owners whose purge has begun: each is to be deleted with its last hook. The purge waits for that, for
   * DELETION.hooksMs at most.
   */
  readonly sources: readonly { readonly ownerId: string; readonly id: string }[];
  /** Owners whose purge is under way: their files outside the store are to be deleted before the next step. */
  readonly purging: readonly string[];
  /** Owners that are gone with all that they owned. */
  readonly purged: readonly Owner[];
}

export interface OwnerDeletionStore {
  /**
   * Begins the deletion of an owner, from which on its keys and addresses are refused. An owner that is being deleted keeps its
   * times. `first`: the store's first owner stays. Undefined: no such owner.
   */
  deleteOwner(
    ownerId: string,
    times: { readonly askedAtMs: number; readonly purgeAtMs: number },
  ): Promise<Owner | 'first' | undefined>;
  /**
   * Ends a deletion whose purge has not begun; the owner's watches do not count the time in between. `settle`: as that of
   * WatchStore.keepWatch. `purging`: the purge has begun. Undefined: no such owner.
   */
  restoreOwner(ownerId: string, settle: CloseGap): Promise<Owner | 'purging' | undefined>;
  /**
   * Makes one bounded step for each owner that is being deleted: cancels what waits, or, once the purge is due and nothing of the
   * owner is under way, deletes some of its rows. Of several nodes one makes the steps of a purge. A step that is lost is made
   * again. The owner's own row goes last, and not before DELETION.settledMs have passed since the purge began, when no request
   * that was accepted before can still write.
   */
  sweepOwners(recordOf: PurgeRecord): Promise<OwnerSweep>;
  /**
   * Reads emissions of an owner in the log's order, with their bodies: of the next that are behind `after`, its own. `next` null:
   * there are no more.
   */
  readEmissions(ownerId: string, after: number): Promise<{ items: readonly Emission[]; next: number | null }>;
}
