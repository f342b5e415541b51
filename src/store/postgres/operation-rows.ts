// Rows to operations, and what becomes of those of a webhook that is deleted.

import type { Operation, OperationState, ResendableState } from '../../domain/operation.ts';
import type { Tx } from './lane.ts';
import type { Row } from './values.ts';

const GONE = 'The webhook was deleted.';
const INACTIVE = 'The webhook is not active: what is left is sent again once it is enabled.';

/** Of `operations AS o LEFT JOIN webhooks AS w ON w.id = o.webhook_id`. */
export const OPERATION_COLUMNS = 'o.*, w.active AS is_active';

export function toOperation(row: Row): Operation {
  const state = row.state as OperationState;
  const total = row.is_counted ? (row.total as number) : null;
  const resent = row.resent as number;
  return {
    id: row.id as string,
    ownerId: row.owner_id as string,
    kind: row.kind as 'resend',
    webhookId: row.webhook_id as string,
    sinceMs: row.since_ms as number,
    untilMs: row.until_ms as number,
    states: (row.states as string).split(' ') as ResendableState[],
    createdAtMs: row.created_at_ms as number,
    state,
    total,
    resent,
    passedOver: state === 'done' && total !== null ? Math.max(0, total - resent) : 0,
    updatedAtMs: row.updated_at_ms as number,
    endedAtMs: row.ended_at_ms as number | null,
    reason: state === 'running' && row.is_active === false ? INACTIVE : (row.reason as string | null),
  };
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
