// What a source remembers between its runs: `$.service.db`, and the ids that dedupe has seen; and the `$.service.db` of a
// workflow's steps. It is written in the transaction of the run's end and emissions.

import { createHash } from 'node:crypto';
import { changeOf, deduplicate } from '../../domain/dedupe.ts';
import type { NewEmission } from '../../domain/emission.ts';
import type { MemoryWrites } from '../../domain/run/run-end.ts';
import type { LogWriter } from './port.ts';

/** Longer ids are remembered by their hash: Postgres limits the size of an index entry. */
const LONGEST_ID = 500;

interface Remembered {
  /** The emissions that are not repeats. */
  readonly emissions: readonly NewEmission[];
  /** How many are. */
  readonly suppressed: number;
}

/** Writes db and dedupe memory. An emission without an id is never a repeat. */
export function applyMemory(
  log: LogWriter,
  { id, dbWrites }: MemoryWrites,
  emissions: readonly NewEmission[],
): Remembered {
  const strategy = log.dedupeOf(id);
  // The source was deleted during its run: nothing is remembered.
  if (strategy === undefined) return { emissions, suppressed: 0 };
  for (const [name, value] of Object.entries(dbWrites)) log.setSourceValue(id, name, value);
  if (strategy === null || emissions.length === 0) return { emissions, suppressed: 0 };
  const before = log.rememberedIds(id);
  const { fresh, remembered } = deduplicate(strategy, { remembered: before, emissions }, kept);
  const { removed, added } = changeOf(before, remembered);
  log.rememberIds(id, removed, added);
  return { emissions: fresh, suppressed: emissions.length - fresh.length };
}

/** Returns the form in which an id is remembered. */
export function kept(itemId: string): string {
  return itemId.length <= LONGEST_ID ? itemId : `sha256:${createHash('sha256').update(itemId).digest('hex')}`;
}
