// Triggers: HTTP endpoints and timers.

import type { TriggerStore } from '../../contract/resources.ts';
import { toTrigger } from '../../rows/resource-rows.ts';
import type { Core } from '../core.ts';

export function triggerVerbs(core: Core): TriggerStore {
  return {
    listTriggers: async (ownerId, runnableId) =>
      core.reader
        .all(
          'SELECT * FROM triggers WHERE runnable_id = ? AND owner_id = ? ORDER BY created_at_ms, id',
          runnableId,
          ownerId,
        )
        .map(toTrigger),

    triggerByKey: async (key) => core.routes.trigger(key),
  };
}
