// What becomes of the operations of a webhook that is deleted.

import { GONE } from '../../rows/operation-rows.ts';
import type { Tx } from '../connection/transaction-connection.ts';

/** So that no step of one is under way. */
export function lockOperationsOf(tx: Tx, webhookId: string): void {
  void tx.query(
    `SELECT 1 FROM operations WHERE webhook_id = $1 AND state IN ('running', 'paused') ORDER BY id FOR UPDATE`,
    webhookId,
  );
}

export function cancelOperationsOf(tx: Tx, { webhookId, nowMs }: { webhookId: string; nowMs: number }): void {
  void tx.query(
    `UPDATE operations SET state = 'cancelled', reason = $2, updated_at_ms = $3::bigint, ended_at_ms = $3::bigint
      WHERE webhook_id = $1 AND state IN ('running', 'paused')`,
    webhookId,
    GONE,
    nowMs,
  );
}
