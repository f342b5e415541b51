// Marks of sources that are being changed. There is one process: whatever an earlier one left is nobody's.

import { HOOK_NAMES } from '../../../domain/emission.ts';
import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import {
  type SourceChange,
  type SourceChangeStore,
  toHookRuns,
  toSourceChange,
} from '../../contract/source-changes.ts';
import type { Core } from '../core.ts';
import type { Transaction } from '../log/transaction.ts';

const HOOKS = HOOK_NAMES.map((name) => `'${name}'`).join(', ');

/** Of a run that was lost: its source is left half changed, so whoever finishes that asks for hooks of his own. `?`: this boot. */
export const IS_ABANDONED_HOOK = `EXISTS (SELECT 1 FROM source_changes AS c JOIN emissions AS e ON e.entry = runs.entry
  WHERE c.source_id = runs.runnable_id AND c.boot < ? AND e.name IN (${HOOKS}))`;

export function sourceChangeVerbs(core: Core): SourceChangeStore {
  const { batch, writer, reader, boot } = core;
  return {
    beginSourceChange: (change) =>
      batch.write((tx) => {
        const { ownerId, sourceId } = change;
        if (!sourceId.startsWith('dc_')) return undefined;
        const source = writer.get('SELECT id FROM runnables WHERE id = ? AND owner_id = ?', sourceId, ownerId);
        return source && (insertChange(core, tx, change) ? 'begun' : 'busy');
      }),

    endSourceChange: (ownerId, sourceId) => batch.write(() => endChange(core, { ownerId, sourceId })),

    takeSourceChanges: (underWay) =>
      batch.write(() => {
        writer.run('UPDATE source_changes SET boot = ? WHERE boot < ?', boot, boot);
        const rows = writer.all('SELECT owner_id, source_id, kind FROM source_changes ORDER BY source_id');
        return rows.map(toSourceChange).filter(({ sourceId }) => !underWay.includes(sourceId));
      }),

    hookRuns: async (ownerId, sourceId) =>
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
      ),
  };
}

/** False: there is one. */
export function insertChange(core: Core, tx: Transaction, { ownerId, sourceId, kind }: SourceChange): boolean {
  const inserted = core.writer.run(
    'INSERT OR IGNORE INTO source_changes (source_id, owner_id, kind, boot, since_ms) VALUES (?,?,?,?,?)',
    sourceId,
    ownerId,
    kind,
    core.boot,
    tx.nowMs,
  );
  return inserted === 1;
}

type Which = Omit<SourceChange, 'kind'>;

/** False: it is not ours. Runs of hooks count from now on. */
export function goOnChanging(core: Core, tx: Transaction, { ownerId, sourceId }: Which): boolean {
  const held = core.writer.run(
    'UPDATE source_changes SET since_ms = ? WHERE source_id = ? AND owner_id = ? AND boot = ?',
    tx.nowMs,
    sourceId,
    ownerId,
    core.boot,
  );
  return held === 1;
}

/** False: it is not ours. */
export function endChange(core: Core, { ownerId, sourceId }: Which): boolean {
  const ended = core.writer.run(
    'DELETE FROM source_changes WHERE source_id = ? AND owner_id = ? AND boot = ?',
    sourceId,
    ownerId,
    core.boot,
  );
  return ended === 1;
}
