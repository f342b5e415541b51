// The steps of deletions of owners, for the janitor: those in the store, and what is outside of it.

import { PREFIX } from '../../domain/ids.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { RunState } from '../../domain/run/run.ts';
import type { Clock, Ids, Log } from '../../ports.ts';
import type { OwnerSweep, PurgeRecord } from '../../store/contract/owner-deletions.ts';
import type { Store } from '../../store/contract/store.ts';

export interface OwnerSweepDeps {
  readonly store: Pick<Store, 'sweepOwners'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Stops a run, at whatever node executes it. */
  readonly cancelRun: (ownerId: string, run: number) => Promise<RunState>;
  /** Deletes a source, with its last hook. */
  readonly deleteSource: (ownerId: string, id: string) => Promise<unknown>;
  /** Deletes the files that this node keeps of an owner. */
  readonly removeFiles: (ownerId: string) => Promise<void>;
}

const NOT_DEACTIVATED = 'could not deactivate a source of an owner that is being deleted; trying again';

export type OwnerSweeps = ReturnType<typeof createOwnerSweeps>;

export function createOwnerSweeps(deps: OwnerSweepDeps) {
  const { store, clock, ids, log, cancelRun, removeFiles } = deps;
  /** Owners whose files are gone here. */
  const emptied = new Set<string>();
  /** Sources whose last hook runs here. */
  const deactivating = new Set<string>();

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
    const { isMore, nextAtMs, running, sources, purging, purged } = await store.sweepOwners(recordOf);
    // A run that has ended meanwhile is no error.
    for (const { ownerId, run } of running) await cancelRun(ownerId, run).catch(() => undefined);
    // They take their time: the janitor does not wait for them.
    for (const source of sources) void deactivate(source);
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

  async function deactivate({ ownerId, id }: OwnerSweep['sources'][number]): Promise<void> {
    if (deactivating.has(id)) return;
    deactivating.add(id);
    try {
      await deps.deleteSource(ownerId, id);
    } catch (error) {
      // Gone, or another node is at it. After any other error, the next step tries again.
      if (!(error instanceof Refusal)) log.warn({ err: error, owner_id: ownerId, source: id }, NOT_DEACTIVATED);
    } finally {
      deactivating.delete(id);
    }
  }

  return { sweep };
}
