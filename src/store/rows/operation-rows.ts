// What both backends make of the row of an operation.

import type { Operation, OperationCursor, OperationState, ResendableState } from '../../domain/operation.ts';
import type { Row } from './rows.ts';

export const GONE = 'The webhook was deleted.';
const INACTIVE = 'The webhook is not active: what is left is sent again once it is enabled.';

/** Of `operations AS o LEFT JOIN webhooks AS w ON w.id = o.webhook_id`: what `toOperation` reads. */
export const OPERATION_COLUMNS = 'o.*, w.active AS is_active';

/** Flags are booleans, or 0 and 1. */
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
    // Some that were in another state when they were counted may have come into one of these since.
    passedOver: state === 'done' && total !== null ? Math.max(0, total - resent) : 0,
    updatedAtMs: row.updated_at_ms as number,
    endedAtMs: row.ended_at_ms as number | null,
    reason: state === 'running' && isInactive(row) ? INACTIVE : (row.reason as string | null),
  };
}

function isInactive({ is_active: isActive }: Row): boolean {
  return isActive === false || isActive === 0;
}

export function cursorOf(row: Row): OperationCursor {
  const { sinceMs, states } = toOperation(row);
  return { sinceMs, states, after: row.after_delivery as number };
}
