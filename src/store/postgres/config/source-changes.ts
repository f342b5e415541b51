// Sources in the log: runs of their hooks while they are being changed, and the events that they list.

import { ERRORS, HOOK_NAMES } from '../../../domain/emission.ts';
import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { ALL_EVENTS, type EventsOf, type SourceStore } from '../../contract/resources.ts';
import { type SourceChangeStore, toHookRuns } from '../../contract/source-changes.ts';
import { number, text } from '../../rows/cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Core } from '../core.ts';

/** Events that one statement hides: a source may have millions, and statements have a time limit. */
const EVENTS_PER_STEP = 20_000;

const HOOKS = HOOK_NAMES.map((name) => `'${name}'`).join(', ');

/** A condition on mark `c`: its process is gone. */
export const IS_ABANDONED = `NOT EXISTS (SELECT 1 FROM nodes AS n WHERE n.node = c.node AND n.gone_at_ms IS NULL)`;

/** A condition on an expired run `o` with emission `e`: it is a hook, and the process that finishes its change runs its own. */
export const IS_ABANDONED_HOOK = `(e.name IN (${HOOKS}) AND EXISTS (SELECT 1 FROM source_changes AS c
  WHERE c.source_id = o.runnable_id AND ${IS_ABANDONED}))`;

export function hookRuns(core: Core): SourceChangeStore['hookRuns'] {
  return async (ownerId, sourceId) =>
    toHookRuns(
      await core.pool.all(
        `SELECT r.run, r.name, r.state, r.has_begun FROM source_changes AS c LEFT JOIN LATERAL (
              SELECT o.run, e.name, o.state, o.fence > 0 AS has_begun
                FROM open_runs AS o JOIN emissions AS e ON e.entry = o.entry
                WHERE o.runnable_id = c.source_id AND o.run >= c.since_ms * ${NUMBERS_PER_MS} AND e.name IN (${HOOKS})
              UNION ALL
              SELECT o.run, e.name, o.state, o.state <> 'cancelled' OR o.attempt > 1 OR o.started_at_ms IS NOT NULL
                FROM runs AS o JOIN emissions AS e ON e.entry = o.entry
                WHERE o.runnable_id = c.source_id AND o.run >= c.since_ms * ${NUMBERS_PER_MS} AND e.name IN (${HOOKS})
            ) AS r ON true
            WHERE c.source_id = $1 AND c.owner_id = $2 AND c.node = $3 ORDER BY r.run DESC`,
        sourceId,
        ownerId,
        core.node.id,
      ),
    );
}

export function hideEvents(core: Core): SourceStore['deleteSourceEvents'] {
  return (ownerId, sourceId, which = ALL_EVENTS) =>
    core.config.transact((tx) => hide(tx, { ownerId, sourceId, ...which }));
}

/**
 * Hides events in lists. The emissions stay in the log for the runs and deliveries that refer to them. Each step goes on along
 * the index of listed events: otherwise it would begin with all that earlier steps have hidden.
 */
async function hide(tx: Tx, of: EventsOf & { ownerId: string; sourceId: string }): Promise<number> {
  let hidden = 0;
  for (let last = { name: '', entry: 0 }; ; ) {
    const [step] = await tx.query(
      `WITH events AS (SELECT entry, name FROM emissions
          WHERE emitter_id = $1 AND owner_id = $2 AND listed AND name <> '${ERRORS}' AND (name, entry) > ($3, $4::bigint)
            AND entry >= $5::bigint AND entry <= $6::bigint AND ($7::text IS NULL OR name = $7::text)
          ORDER BY name, entry LIMIT ${EVENTS_PER_STEP}),
        hidden AS (UPDATE emissions AS e SET listed = false FROM events WHERE e.entry = events.entry)
        SELECT name, entry, (SELECT count(*) FROM events) AS n FROM events ORDER BY name DESC, entry DESC LIMIT 1`,
      of.sourceId,
      of.ownerId,
      last.name,
      last.entry,
      of.from,
      of.to,
      of.name,
    );
    if (!step) return hidden;
    const n = number(step, 'n');
    hidden += n;
    if (n < EVENTS_PER_STEP) return hidden;
    last = { name: text(step, 'name'), entry: number(step, 'entry') };
  }
}
