// What a source remembers between its runs: `$.service.db` and the ids that dedupe has seen. Written with the end of
// the run, in the transaction of its emissions.

import type { NewEmission } from '../../domain/emission.ts';
import type { RunEnd } from '../../domain/end.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Core } from './core.ts';
import type { Writing } from './write.ts';

/** Writes db and dedupe memory; returns the emissions that are not repeats. */
export function applySource(
  core: Core,
  w: Writing,
  ended: { source: NonNullable<RunEnd['source']>; emissions: readonly NewEmission[] },
): readonly NewEmission[] {
  const { source, emissions } = ended;
  for (const [name, value] of Object.entries(source.dbWrites)) writeDb(core, source.id, [name, value]);
  const row = core.writer.get('SELECT dedupe FROM runnables WHERE id = ?', source.id);
  if (row?.dedupe !== 'unique') return emissions;
  const fresh = emissions.filter((e) => e.itemId === null || isNew(core, w, [source.id, e.itemId]));
  forgetOld(core, source.id);
  return fresh;
}

function writeDb(core: Core, sourceId: string, [name, value]: readonly [string, string | null]): void {
  if (value === null) core.writer.run('DELETE FROM source_db WHERE source_id = ? AND name = ?', sourceId, name);
  else
    core.writer.run('INSERT OR REPLACE INTO source_db (source_id, name, value) VALUES (?,?,?)', sourceId, name, value);
}

function isNew(core: Core, w: Writing, [sourceId, itemId]: readonly [string, string]): boolean {
  const added = core.writer.run(
    'INSERT OR IGNORE INTO dedupe (source_id, item_id, entry) VALUES (?,?,?)',
    sourceId,
    itemId,
    w.tx.number(),
  );
  return added === 1;
}

function forgetOld(core: Core, sourceId: string): void {
  core.writer.run(
    `DELETE FROM dedupe WHERE source_id = ? AND entry <= (SELECT entry FROM dedupe WHERE source_id = ?
      ORDER BY entry DESC LIMIT 1 OFFSET ${LIMITS.uniqueIds})`,
    sourceId,
    sourceId,
  );
}
