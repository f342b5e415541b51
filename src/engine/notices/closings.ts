// Why a group of errors was closed although nothing has recovered: what failed was deleted, or is not watched any more. Judged when
// the end of the group is told, right after it was closed.

import type { ErrorGroup } from '../../domain/errors/group.ts';
import { PREFIX } from '../../domain/ids.ts';
import type { Closing } from '../../domain/notices/notice.ts';
import type { Workflow } from '../../domain/resource.ts';
import { watchesOf } from '../../domain/watch/watch.ts';
import { watchOfErrors } from '../../domain/watch/watch-emissions.ts';
import type { Store } from '../../store/contract/store.ts';

export type ClosingStore = Pick<Store, 'getSource' | 'getWebhook' | 'getHeartbeat'>;

/** Returns why a group that is resolved was closed; null: its errors are over. `workflow`: of a group of a workflow. */
export async function closingOf(
  store: ClosingStore,
  { ownerId, emitterId, fingerprint }: ErrorGroup,
  workflow: Workflow | undefined,
): Promise<Closing | null> {
  if (emitterId.startsWith(PREFIX.heartbeat)) {
    const watched = await store.getHeartbeat(ownerId, emitterId);
    if (!watched) return 'deleted';
    return watched.heartbeat.active ? null : 'switched_off';
  }
  if (emitterId.startsWith(PREFIX.source)) return (await store.getSource(ownerId, emitterId)) ? null : 'deleted';
  if (emitterId.startsWith(PREFIX.webhook)) return (await store.getWebhook(ownerId, emitterId)) ? null : 'deleted';
  if (!emitterId.startsWith(PREFIX.workflow)) return null;
  if (!workflow) return 'deleted';
  const kind = watchOfErrors(fingerprint);
  if (kind === null) return null;
  if (!workflow.active) return 'switched_off';
  return watchesOf(workflow.settings.watch).some((watch) => watch.kind === kind) ? null : 'not_watched';
}
