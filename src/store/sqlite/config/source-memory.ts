// What a source remembers between its runs: `$.service.db` and the ids that dedupe has seen. Written with the end of
// the run, in the transaction of its emissions.

import { changeOf, judge } from '../../../domain/dedupe.ts';
import type { NewEmission } from '../../../domain/emission.ts';
import type { Dedupe } from '../../../domain/resource.ts';
import type { Remembered, SourceEnd } from '../../log/port.ts';
import type { Core } from '../core.ts';
import type { Transaction } from '../log/transaction.ts';

/** Writes db and dedupe memory. An emission without an id passes. */
export function applySource(
  core: Core,
  tx: Transaction,
  ended: { source: SourceEnd; emissions: readonly NewEmission[] },
): Remembered {
  const { source, emissions } = ended;
  const row = core.writer.get('SELECT dedupe FROM runnables WHERE id = ?', source.id);
  // It was deleted while it ran: there is nobody left to remember anything.
  if (!row) return { emissions, suppressed: 0 };
  for (const [name, value] of Object.entries(source.dbWrites)) writeDb(core, source.id, [name, value]);
  const strategy = row.dedupe as Dedupe | null;
  if (strategy === null || emissions.length === 0) return { emissions, suppressed: 0 };
  const before = rememberedBy(core, source.id);
  const { fresh, remembered } = judge(strategy, { remembered: before, emissions });
  remember(core, tx, { sourceId: source.id, before, now: remembered });
  return { emissions: fresh, suppressed: emissions.length - fresh.length };
}

function writeDb(core: Core, sourceId: string, [name, value]: readonly [string, string | null]): void {
  if (value === null) core.writer.run('DELETE FROM source_db WHERE source_id = ? AND name = ?', sourceId, name);
  else
    core.writer.run('INSERT OR REPLACE INTO source_db (source_id, name, value) VALUES (?,?,?)', sourceId, name, value);
}

/** The ids that a source remembers, newest last. */
function rememberedBy(core: Core, sourceId: string): string[] {
  const rows = core.writer.all('SELECT item_id FROM dedupe WHERE source_id = ? ORDER BY entry', sourceId);
  return rows.map((row) => row.item_id as string);
}

function remember(
  core: Core,
  tx: Transaction,
  of: { sourceId: string; before: string[]; now: readonly string[] },
): void {
  const { removed, added } = changeOf(of.before, of.now);
  for (const itemId of removed) {
    core.writer.run('DELETE FROM dedupe WHERE source_id = ? AND item_id = ?', of.sourceId, itemId);
  }
  for (const itemId of added) {
    const sql = 'INSERT INTO dedupe (source_id, item_id, entry) VALUES (?,?,?)';
    core.writer.run(sql, of.sourceId, itemId, tx.number());
  }
}
