// What a source remembers between its runs: `$.service.db` and the ids that dedupe has seen. Written with the end of
// the run, in the transaction of its emissions.

import { createHash } from 'node:crypto';
import { changeOf, judge } from '../../domain/dedupe.ts';
import type { NewEmission } from '../../domain/emission.ts';
import type { RunEnd } from '../../domain/run/run-end.ts';
import type { LogWriter } from './port.ts';

/** Longer ids are remembered by their hash: an index entry of Postgres has its limit. */
const LONGEST_ID = 500;

interface Remembered {
  /** The emissions that are not repeats. */
  readonly emissions: readonly NewEmission[];
  /** How many were. */
  readonly suppressed: number;
}

/** Writes db and dedupe memory. An emission without an id passes. */
export function applySource(
  log: LogWriter,
  { id, dbWrites }: NonNullable<RunEnd['source']>,
  emissions: readonly NewEmission[],
): Remembered {
  const strategy = log.dedupeOf(id);
  // It was deleted while it ran: nothing of it is remembered any more.
  if (strategy === undefined) return { emissions, suppressed: 0 };
  for (const [name, value] of Object.entries(dbWrites)) log.setSourceValue(id, name, value);
  if (strategy === null || emissions.length === 0) return { emissions, suppressed: 0 };
  const before = log.rememberedIds(id);
  const { fresh, remembered } = judge(strategy, { remembered: before, emissions }, kept);
  const { removed, added } = changeOf(before, remembered);
  log.rememberIds(id, removed, added);
  return { emissions: fresh, suppressed: emissions.length - fresh.length };
}

/** An id as it is remembered. */
export function kept(itemId: string): string {
  return itemId.length <= LONGEST_ID ? itemId : `sha256:${createHash('sha256').update(itemId).digest('hex')}`;
}
