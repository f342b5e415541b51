// Rows of operations, for both backends.

import {
  type ErrorSelection,
  EVERY,
  OUTCOMES,
  type OutcomeCounts,
  type Replaying,
  type ReplayOrder,
  type ReplayOutcome,
} from '../../domain/errors/replaying.ts';
import type {
  Operation,
  OperationCursor,
  OperationKind,
  OperationState,
  ResendableState,
} from '../../domain/operation.ts';
import type { ReplayResult } from '../contract/operations.ts';
import { flag, json, number, numberOrNull, text, textOrNull } from './cells.ts';
import type { Row } from './rows.ts';

export const GONE = 'The webhook was deleted.';
const INACTIVE = 'The webhook is not active: what is left is sent again once it is enabled.';

/** Reads a row of `operations`, with `is_active` of its webhook if the record's reason is needed. */
export function toOperation(row: Row): Operation {
  const state = text<OperationState>(row, 'state');
  const total = flag(row, 'is_counted') ? number(row, 'total') : null;
  const resent = number(row, 'resent');
  return {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    kind: text<OperationKind>(row, 'kind'),
    webhookId: textOrNull(row, 'webhook_id'),
    sinceMs: number(row, 'since_ms'),
    untilMs: number(row, 'until_ms'),
    states: text(row, 'states')
      .split(' ')
      .filter((one) => one !== '') as ResendableState[],
    replaying: row.replay === null ? null : toReplaying(row),
    createdAtMs: number(row, 'created_at_ms'),
    state,
    total,
    resent,
    // Deliveries may have come into one of the states since they were counted.
    passedOver: row.replay === null && state === 'done' && total !== null ? Math.max(0, total - resent) : 0,
    updatedAtMs: number(row, 'updated_at_ms'),
    endedAtMs: numberOrNull(row, 'ended_at_ms'),
    reason: state === 'running' && isInactive(row) ? INACTIVE : textOrNull(row, 'reason'),
  };
}

function isInactive({ is_active: isActive }: Row): boolean {
  return isActive === false || isActive === 0;
}

export function cursorOf(row: Row): OperationCursor {
  const { sinceMs, states } = toOperation(row);
  return { sinceMs, states, after: number(row, 'after_number') };
}

/** Operations of earlier versions have no say in what came later, and name a workflow where others name what has failed. */
interface StoredOrder extends Omit<ReplayOrder, 'isFromFailedStep' | 'selection'> {
  readonly isFromFailedStep?: boolean;
  readonly selection: Partial<ErrorSelection> & { readonly workflowId?: string | null };
}

function orderOf({ selection: { workflowId = null, ...selection }, ...order }: StoredOrder): ReplayOrder {
  const all = { groupId: null, emitterId: workflowId, entries: null, ...EVERY };
  return { isFromFailedStep: false, ...order, selection: { ...all, ...selection } };
}

/** Reads a row of the kind `replay`. */
export function toReplaying(row: Row): Replaying {
  return {
    order: orderOf(json<StoredOrder>(row, 'replay')),
    counts: Object.fromEntries(OUTCOMES.map((outcome) => [outcome, number(row, outcome)])) as OutcomeCounts,
    isCanaryOver: flag(row, 'is_canary_over'),
    stopAt: numberOrNull(row, 'stop_at'),
    dueAtMs: number(row, 'due_at_ms'),
    isThrough: flag(row, 'is_through'),
    hasLeftUnfixed: flag(row, 'has_left_unfixed'),
  };
}

export function toReplayResult(row: Row): ReplayResult {
  return {
    entry: number(row, 'entry'),
    emitterId: textOrNull(row, 'emitter_id'),
    run: numberOrNull(row, 'run'),
    outcome: text<ReplayOutcome>(row, 'outcome'),
    reason: textOrNull(row, 'reason'),
    errorEntry: numberOrNull(row, 'error_entry'),
  };
}
