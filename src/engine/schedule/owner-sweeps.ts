// The steps of deletions of owners, for the janitor: those in the store, and what is outside of it.

import { PREFIX } from '../../domain/ids.ts';
import type { RunState } from '../../domain/run/run.ts';
import type { Clock, Ids, Log } from '../../ports.ts';
import type { PurgeRecord } from '../../store/contract/owner-deletions.ts';
import type { Store } from '../../store/contract/store.ts';

export interface OwnerSweepDeps {
  readonly store: Pick<Store, 'sweepOwners'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Stops a run, at whatever node executes it. */
  readonly cancelRun: (ownerId: string, run: number) => Promise<RunState>;
  /** Deletes the files that this node keeps of an owner. */
  readonly removeFiles: (ownerId: string) => Promise<void>;
}

export type OwnerSweeps = ReturnType<typeof createOwnerSweeps>;

export function createOwnerSweeps({ store, clock, ids, log, cancelRun, removeFiles }: OwnerSweepDeps) {
  /** Owners whose files are gone here. */
  const emptied = new Set<string>();

  const recordOf: PurgeRecord = ({ id: targetId, name }, ownerId) => ({
    id: ids.next(PREFIX.audit),
    ownerId,
    keyId: null,
    keyLabel: 'the deletion of the owner',
    byOwnerId: null,
    operation: 'purgeOwner',
    targetId,
    method: 'PURGE',
    path: name,
    clientIp: '',
    requestId: '',
    status: 200,
    count: 1,
    atMs: clock.nowMs(),
  });

  /** Makes one bounded step. Returns in how many milliseconds the next one may do something; 0: at once. */
  async function sweep(): Promise<number> {
    const { isMore, nextAtMs, running, purging, purged } = await store.sweepOwners(recordOf);
    // A run that has ended meanwhile is no error.
    for (const { ownerId, run } of running) await cancelRun(ownerId, run).catch(() => undefined);
    for (const ownerId of purging.filter((id) => !emptied.has(id))) {
      await removeFiles(ownerId);
      emptied.add(ownerId);
    }
    for (const { id, name } of purged) {
      emptied.delete(id);
      log.info({ owner_id: id, name }, 'an owner was deleted with all that it owned');
    }
    if (isMore) return 0;
    return nextAtMs === null ? Number.POSITIVE_INFINITY : Math.max(1, nextAtMs - clock.nowMs());
  }

  return { sweep };
}
