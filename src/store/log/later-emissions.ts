// What a run has emitted: written at once, or kept until it is due.

import type { NewEmission } from '../../domain/emission.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Claims } from '../contract/store.ts';
import type { LogWriter } from './port.ts';
import { writeEmission } from './write-emission.ts';

/** Returns the entries of what is emitted now. */
export function emitOrKeep(log: LogWriter, emissions: readonly NewEmission[]): number[] {
  const entries: number[] = [];
  for (const made of emissions) {
    const { deliverAtMs = null } = made;
    if (deliverAtMs === null || deliverAtMs <= log.nowMs) entries.push(writeEmission(log, made).emission.entry);
    // Its source may have been deleted while it ran.
    else if (log.runnable(made.ownerId, made.emitterId)) log.insertLater(made, deliverAtMs);
  }
  return entries;
}

/** Emits what is due, in the transaction in which it ceases to wait. */
export function releaseLater(log: LogWriter): { claims: Claims; isMore: boolean } {
  const due = log.takeDueLater();
  for (const { entry: _entry, emitId: _emitId, ...made } of due) {
    // Its source may have been deleted meanwhile.
    if (log.runnable(made.ownerId, made.emitterId)) writeEmission(log, made);
  }
  return { claims: log.claims, isMore: due.length === LIMITS.laterStep };
}
