// Emissions of runs: written at once, or kept until they are due.

import type { NewEmission } from '../../domain/emission.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Claims } from '../contract/store.ts';
import type { LogWriter } from './port.ts';
import { writeEmission } from './write-emission.ts';

/** Writes emissions, or keeps those that are due later. Returns the entries of those written. */
export function emitOrKeep(log: LogWriter, emissions: readonly NewEmission[]): number[] {
  const entries: number[] = [];
  for (const made of emissions) {
    const { deliverAtMs = null } = made;
    if (deliverAtMs === null || deliverAtMs <= log.nowMs) entries.push(writeEmission(log, made).emission.entry);
    // The source may have been deleted during its run.
    else if (log.runnable(made.ownerId, made.emitterId)) log.insertLater(made, deliverAtMs);
  }
  return entries;
}

/** Emits what is due, in the transaction that deletes it from the emissions that wait. */
export function releaseLater(log: LogWriter): { claims: Claims; isMore: boolean } {
  const due = log.takeDueLater();
  for (const { entry: _entry, emitId: _emitId, ...made } of due) {
    // The source may have been deleted meanwhile.
    if (log.runnable(made.ownerId, made.emitterId)) writeEmission(log, made);
  }
  return { claims: log.claims, isMore: due.length === LIMITS.laterStep };
}
