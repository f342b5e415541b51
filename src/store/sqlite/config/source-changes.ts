// Sources in the log: runs of their hooks while they are being changed, and the events that they list. There is one process, so
// marks of an earlier boot are of a process that is gone.

import { ERRORS, HOOK_NAMES } from '../../../domain/emission.ts';
import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { ALL_EVENTS, type SourceStore } from '../../contract/resources.ts';
import { type SourceChangeStore, toHookRuns } from '../../contract/source-changes.ts';
import type { Core } from '../core.ts';

const HOOKS = HOOK_NAMES.map((name) => `'${name}'`).join(', ');

/** A condition on an expired run: it is a hook, and the process that finishes its change runs its own. `?`: this boot. */
export const IS_ABANDONED_HOOK = `EXISTS (SELECT 1 FROM source_changes AS c JOIN emissions AS e ON e.entry = runs.entry
  WHERE c.source_id = runs.runnable_id AND c.boot < ? AND e.name IN (${HOOKS}))`;

export function hookRuns({ reader, boot }: Core): SourceChangeStore['hookRuns'] {
  return async (ownerId, sourceId) =>
    toHookRuns(
      reader.all(
        `SELECT r.run, r.name, r.state, r.has_begun FROM source_changes AS c LEFT JOIN (
            SELECT runnable_id, run, name, state, fence > 0 AS has_begun FROM runs JOIN emissions USING (entry)
              WHERE runnable_id = ?1 AND name IN (${HOOKS})
                AND run >= (SELECT since_ms * ${NUMBERS_PER_MS} FROM source_changes WHERE source_id = ?1)
          ) AS r ON r.runnable_id = c.source_id
          WHERE c.source_id = ?1 AND c.owner_id = ?2 AND c.boot = ?3 ORDER BY r.run DESC`,
        sourceId,
        ownerId,
        boot,
      ),
    );
}

/** Hides events in lists. The emissions stay in the log for the runs and deliveries that refer to them. */
export function hideEvents({ batch, writer }: Core): SourceStore['deleteSourceEvents'] {
  return (ownerId, sourceId, { name, from, to } = ALL_EVENTS) =>
    batch.write(() =>
      writer.run(
        `UPDATE emissions SET flags = flags & ~8 WHERE emitter_id = ? AND owner_id = ? AND flags & 8 AND name <> ?
          AND entry >= ? AND entry <= ?${name === null ? '' : ' AND name = ?'}`,
        sourceId,
        ownerId,
        ERRORS,
        from,
        to,
        ...(name === null ? [] : [name]),
      ),
    );
}
