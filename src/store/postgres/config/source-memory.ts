// What a source remembers between its runs: `$.service.db` and the ids that dedupe has seen. Written with the end of
// the run, in the transaction of its emissions.

import { createHash } from 'node:crypto';
import { changeOf, judge } from '../../../domain/dedupe.ts';
import type { NewEmission } from '../../../domain/emission.ts';
import type { Dedupe } from '../../../domain/resource.ts';
import type { Remembered, SourceEnd } from '../../log/port.ts';
import type { Pass } from '../log/batch-planner.ts';

/** Longer ids are remembered by their hash: an index entry has its limit. */
const LONGEST_ID = 500;

/** Plans db and dedupe memory. An emission without an id passes. */
export function applySource(pass: Pass, ended: { source: SourceEnd; emissions: readonly NewEmission[] }): Remembered {
  const { source, emissions } = ended;
  // It was deleted while it ran: there is nobody left to remember anything.
  if (!pass.reads.strategies.has(source.id)) return { emissions, suppressed: 0 };
  for (const [name, value] of Object.entries(source.dbWrites)) {
    pass.plan.dbWrites.set(`${source.id} ${name}`, { sourceId: source.id, name, value });
  }
  const strategy = (pass.reads.strategies.get(source.id) ?? null) as Dedupe | null;
  if (strategy === null) return { emissions, suppressed: 0 };
  const stored = pass.reads.itemIds.get(source.id) ?? [];
  const { fresh, remembered } = judge(strategy, { remembered: rememberedNow(pass, source.id), emissions }, kept);
  const { removed, added } = changeOf(stored, remembered);
  pass.memories.set(source.id, { removed, added: added.map((id) => [id, pass.numbers.next()]) });
  return { emissions: fresh, suppressed: emissions.length - fresh.length };
}

/** Newest last: what stands in the database, with what this pass has changed so far. */
function rememberedNow(pass: Pass, sourceId: string): readonly string[] {
  const stored = pass.reads.itemIds.get(sourceId) ?? [];
  const earlier = pass.memories.get(sourceId);
  if (!earlier) return stored;
  return [...stored.filter((id) => !earlier.removed.includes(id)), ...earlier.added.map(([id]) => id)];
}

/** An id as it is remembered. */
export function kept(itemId: string): string {
  return itemId.length <= LONGEST_ID ? itemId : `sha256:${createHash('sha256').update(itemId).digest('hex')}`;
}
