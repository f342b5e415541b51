// What owners say about a group of errors.

import type { ErrorGroup, GroupChange } from '../../domain/errors/group.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Wake } from '../../ports.ts';
import type { Store } from '../../store/contract/store.ts';

export interface GroupDeps {
  /** The group is answered as it is shown. */
  readonly shown: Pick<Store, 'updateErrorGroup'>;
  readonly wake: Wake;
}

export function createGroups({ shown, wake }: GroupDeps) {
  async function updateErrorGroup(
    ownerId: string,
    id: string,
    change: GroupChange,
    check?: (before: ErrorGroup) => void,
  ): Promise<ErrorGroup> {
    const changed = await shown.updateErrorGroup(ownerId, id, change, check);
    if (!changed) throw new Refusal('not_found', `there is no group of errors ${id}`);
    if (changed.refused) {
      throw new Refusal('impossible', 'The errors of this group belong to no deployment, so there is no next one.');
    }
    // That it recovered may be told now.
    if (change.status) wake.notify('schedules');
    return changed.group;
  }

  return { updateErrorGroup };
}
