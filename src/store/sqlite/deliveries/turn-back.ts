// Deliveries behind a clock that was set back.

import type { SetBack } from '../../contract/store.ts';
import { OPEN_DELIVERY } from '../../rows/delivery-rows.ts';
import type { Core } from '../core.ts';

/** Implements Writing.turnBackDeliveries. */
export function turnBackDeliveries({ writer, queues }: Core, { nowMs, backMs }: SetBack): void {
  writer.run(
    `UPDATE deliveries SET due_at_ms = due_at_ms - ? WHERE state = 'retrying' AND ${OPEN_DELIVERY} AND due_at_ms > ?`,
    backMs,
    nowMs,
  );
  for (const column of ['paused_until_ms', 'noticed_at_ms', 'failing_since_ms']) {
    writer.run(`UPDATE webhook_health SET ${column} = ${column} - ? WHERE ${column} > ?`, backMs, nowMs);
  }
  queues.turnBack(backMs);
}
