// Triggers: HTTP endpoints and timers.

import type { TriggerStore } from '../../contract/resources.ts';
import { toTrigger } from '../../rows/resource-rows.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { Lookup } from '../log/lookup.ts';

export function triggerVerbs(core: Core): TriggerStore {
  const byKey = new Lookup(async (keys) => {
    const rows = await core.pool.all(
      `SELECT t.* FROM triggers AS t JOIN runnables AS r ON r.id = t.runnable_id
        WHERE t.key = ANY($1::text[]) AND r.active`,
      arrayLiteral(keys),
    );
    return new Map(rows.map((row) => [row.key as string, toTrigger(row)]));
  });
  return {
    listTriggers: async (ownerId, runnableId) => {
      const rows = await core.pool.all(
        'SELECT * FROM triggers WHERE runnable_id = $1 AND owner_id = $2 ORDER BY created_at_ms, id',
        runnableId,
        ownerId,
      );
      return rows.map(toTrigger);
    },

    triggerByKey: (key) => byKey.find(key),
  };
}
