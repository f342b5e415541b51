// What a run has emitted: written at once, or kept until it is due.

import type { NewEmission } from '../../domain/emission.ts';
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
