// Deleting owners with all that they own: after a grace, in which they can be restored. The janitor makes the steps.

import type { ApiKey } from '../../domain/keys.ts';
import { purgeAtMs } from '../../domain/owners/deletion.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Owner } from '../../domain/resource.ts';
import { excused } from '../../domain/watch/heartbeat.ts';
import type { Clock, Wake } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';
import { firstTickMs } from '../schedule/cron.ts';

export interface OwnerDeletionDeps {
  readonly store: Pick<Store, 'deleteOwner' | 'restoreOwner'>;
  readonly clock: Clock;
  readonly wake: Wake;
  /** Days in which a deleted owner can be restored; 0: it is purged with the janitor's next step. */
  readonly ownerGraceDays: number;
}

export function createOwnerDeletions({ store, clock, wake, ownerGraceDays }: OwnerDeletionDeps) {
  /** Begins the deletion of an owner. `by`: the key that authorised the request; null: the command line. */
  async function deleteOwner(ownerId: string, by: ApiKey | null): Promise<Owner> {
    if (by?.ownerId === ownerId) {
      throw new Refusal(
        'conflict',
        `the key "${by.label}" belongs to ${ownerId}, and could not restore it; delete this owner with a key of another one`,
      );
    }
    const askedAtMs = clock.nowMs();
    const owner = await store.deleteOwner(ownerId, { askedAtMs, purgeAtMs: purgeAtMs(askedAtMs, ownerGraceDays) });
    if (owner === undefined) throw notFound(ownerId);
    if (owner === 'first') {
      throw new Refusal('conflict', `${ownerId} is the first owner of this installation, which cannot be deleted`);
    }
    wake.notify('keys');
    wake.notify('deletions');
    return owner;
  }

  /** Ends a deletion whose purge has not begun. What was cancelled stays so. */
  async function restoreOwner(ownerId: string): Promise<Owner> {
    const owner = await store.restoreOwner(ownerId, (of, gap) =>
      excused(of, gap, { nowMs: gap.nowMs, nextTick: firstTickMs }),
    );
    if (owner === undefined) throw notFound(ownerId);
    if (owner === 'purging') {
      throw new Refusal('conflict', `the purge of ${ownerId} has begun, and it cannot be restored`);
    }
    wake.notify('schedules');
    return owner;
  }

  return { deleteOwner, restoreOwner };
}

function notFound(ownerId: string): Refusal {
  return new Refusal('not_found', `there is no owner ${ownerId}`);
}
