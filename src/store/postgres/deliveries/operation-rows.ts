// Rows to operations, and what becomes of those of a webhook that is deleted.

import type { Operation } from '../../../domain/operation.ts';
import { GONE, INACTIVE, toOperation as readOperation } from '../../rows/operation-rows.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Row } from '../connection/values.ts';

/** Of `operations AS o LEFT JOIN webhooks AS w ON w.id = o.webhook_id`. */
export const OPERATION_COLUMNS = 'o.*, w.active AS is_active';

export function toOperation(row: Row): Operation {
  const operation = readOperation(row);
  return operation.state === 'running' && row.is_active === false ? { ...operation, reason: INACTIVE } : operation;
}

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
