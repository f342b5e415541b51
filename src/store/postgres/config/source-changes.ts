// Marks of sources that are being changed, each of the node that does.
//
// Locks: a write of a source locks its line, the owner's version, the mark, and then its row; beginning a change locks the
// row (so that it is not deleted meanwhile) and then the mark. A deletion therefore takes the row before the mark.

import { HOOK_NAMES } from '../../../domain/emission.ts';
import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import {
  type SourceChange,
  type SourceChangeStore,
  toHookRuns,
  toSourceChange,
} from '../../contract/source-changes.ts';
import { NOW_SQL } from '../connection/clock.ts';
import { arrayLiteral } from '../connection/values.ts';
import type { Core } from '../core.ts';
import type { ConfigWriting } from './config-write.ts';

const HOOKS = HOOK_NAMES.map((name) => `'${name}'`).join(', ');

/** Of a mark `c`: nobody goes on with it. */
const IS_ABANDONED = `NOT EXISTS (SELECT 1 FROM nodes AS n WHERE n.node = c.node AND n.gone_at_ms IS NULL)`;

/** Of a run `o` with its emission `e` that was lost: whoever finishes the change of its source asks for hooks of his own. */
export const IS_ABANDONED_HOOK = `(e.name IN (${HOOKS}) AND EXISTS (SELECT 1 FROM source_changes AS c
  WHERE c.source_id = o.runnable_id AND ${IS_ABANDONED}))`;

export function sourceChangeVerbs(core: Core): SourceChangeStore {
  return {
    beginSourceChange: (change) => beginChange(core, change),

    endSourceChange: (ownerId, sourceId) =>
      core.config.transact(async (tx) => {
        const ended = await tx.query(
          'DELETE FROM source_changes WHERE source_id = $1 AND owner_id = $2 AND node = $3 RETURNING source_id',
          sourceId,
          ownerId,
          core.node.id,
        );
        return ended.length === 1;
      }),

    takeSourceChanges: (underWay) =>
      core.config.transact(async (tx) => {
        const taken = await tx.query(
          `UPDATE source_changes AS c SET node = $1 WHERE source_id <> ALL ($2::text[]) AND (node = $1 OR ${IS_ABANDONED})
            RETURNING owner_id, source_id, kind`,
          core.node.id,
          arrayLiteral(underWay),
        );
        return taken.map(toSourceChange);
      }),

    hookRuns: async (ownerId, sourceId) =>
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
      ),
  };
}

async function beginChange(
  core: Core,
  { ownerId, sourceId, kind }: SourceChange,
): Promise<'begun' | 'busy' | undefined> {
  if (!sourceId.startsWith('dc_')) return undefined;
  const [found] = await core.config.transact((tx) =>
    tx.query(
      `WITH source AS (SELECT id, owner_id FROM runnables WHERE id = $1 AND owner_id = $2 FOR KEY SHARE),
        begun AS (INSERT INTO source_changes (source_id, owner_id, kind, node, since_ms)
          SELECT id, owner_id, $3, $4::bigint, coalesce($5::bigint, ${NOW_SQL}) FROM source
          ON CONFLICT DO NOTHING RETURNING source_id)
        SELECT EXISTS (SELECT 1 FROM source) AS is_there, EXISTS (SELECT 1 FROM begun) AS is_begun`,
      sourceId,
      ownerId,
      kind,
      core.node.id,
      core.clock.standMs(),
    ),
  );
  if (found?.is_there !== true) return undefined;
  return found.is_begun === true ? 'begun' : 'busy';
}

/** With the source that it makes. */
export function insertChange(core: Core, w: ConfigWriting, { ownerId, sourceId, kind }: SourceChange): void {
  void w.tx.query(
    'INSERT INTO source_changes (source_id, owner_id, kind, node, since_ms) VALUES ($1, $2, $3, $4, $5)',
    sourceId,
    ownerId,
    kind,
    core.node.id,
    w.nowMs,
  );
}

type Which = Omit<SourceChange, 'kind'>;

/** False: it is not ours. Runs of hooks count from now on, unless it is the last write. */
export async function holdsChange(core: Core, w: ConfigWriting, of: Which & { isLast: boolean }): Promise<boolean> {
  const which = 'source_id = $1 AND owner_id = $2 AND node = $3';
  const { sourceId, ownerId, isLast } = of;
  const held = isLast
    ? await w.tx.query(`DELETE FROM source_changes WHERE ${which} RETURNING source_id`, sourceId, ownerId, core.node.id)
    : await w.tx.query(
        `UPDATE source_changes SET since_ms = $4::bigint WHERE ${which} RETURNING source_id`,
        sourceId,
        ownerId,
        core.node.id,
        w.nowMs,
      );
  return held.length === 1;
}
