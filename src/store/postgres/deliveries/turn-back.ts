// Deliveries behind a clock that was set back, and what nodes have noted of themselves.

import type { SetBack } from '../../contract/store.ts';
import type { Tx } from '../connection/transaction-connection.ts';

/** Implements Writing.turnBackDeliveries. Queues are locked first, in the order of all that change deliveries. */
export async function turnBackDeliveries(tx: Tx, { nowMs, backMs }: SetBack): Promise<void> {
  void tx.query('SELECT 1 FROM listener_queues ORDER BY owner_id, listener_id FOR UPDATE');
  void tx.query(
    `UPDATE open_deliveries SET due_at_ms = due_at_ms - $2::bigint
      WHERE state IN ('pending', 'retrying') AND due_at_ms > $1::bigint`,
    nowMs,
    backMs,
  );
  const columns = ['paused_until_ms', 'ready_at_ms', 'kept_until_ms', 'noticed_at_ms', 'failing_since_ms'];
  void tx.query(
    `UPDATE listener_queues SET ${columns.map((c) => `${c} = CASE WHEN ${c} > $1::bigint THEN ${c} - $2::bigint ELSE ${c} END`).join(', ')}
      WHERE ${columns.map((c) => `${c} > $1::bigint`).join(' OR ')}`,
    nowMs,
    backMs,
  );
  // A node that is gone would be taken for alive until the clock is there again.
  await tx.query(
    'UPDATE nodes SET beat_at_ms = $1::bigint WHERE gone_at_ms IS NULL AND beat_at_ms > $1::bigint',
    nowMs,
  );
}
