// Ticks of schedules.

import type { Tick } from '../../contract/store.ts';
import { flag } from '../../rows/cells.ts';
import type { Connection } from '../database.ts';
import { OPEN_RUN } from '../partial-index.ts';

/** Whether a source's trigger has an open run. */
const IS_BUSY = `(runnable_id GLOB 'dc_*' AND EXISTS (SELECT 1 FROM runs JOIN emissions USING (entry)
  WHERE runs.runnable_id = triggers.runnable_id AND ${OPEN_RUN} AND emitter_id = triggers.id))`;

/** See LogWriter. */
export function takeTick(writer: Connection, { triggerId, expectedAtMs, nextAtMs }: Tick): boolean {
  // This tick was emitted before, and is the next one again.
  writer.run(
    'UPDATE triggers SET next_at_ms = ? WHERE id = ? AND next_at_ms = ? AND last_due_at_ms >= ?',
    nextAtMs,
    triggerId,
    expectedAtMs,
    expectedAtMs,
  );
  const taken = writer.get(
    `UPDATE triggers SET next_at_ms = ?, last_due_at_ms = ?, skipped_ticks = skipped_ticks + ${IS_BUSY}
      WHERE id = ? AND next_at_ms = ? RETURNING ${IS_BUSY} AS is_skipped`,
    nextAtMs,
    expectedAtMs,
    triggerId,
    expectedAtMs,
  );
  return taken !== undefined && !flag(taken, 'is_skipped');
}
