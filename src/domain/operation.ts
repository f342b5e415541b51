// Work on many deliveries that goes on in the background: sending again what a webhook was sent.

import type { DeliveryState } from './delivery/delivery.ts';

export type OperationState = 'running' | 'paused' | 'done' | 'cancelled';

export const OPERATION_STATES: readonly OperationState[] = ['running', 'paused', 'done', 'cancelled'];

/** States of deliveries that can be sent again. */
export const RESENDABLE = [
  'exhausted',
  'delivered',
  'cancelled',
  'retrying',
] as const satisfies readonly DeliveryState[];

export type ResendableState = (typeof RESENDABLE)[number];

export interface NewOperation {
  /** `op_…`. */
  readonly id: string;
  readonly ownerId: string;
  readonly kind: 'resend';
  readonly webhookId: string;
  /** Deliveries accepted from then on … */
  readonly sinceMs: number;
  /** … and before then. */
  readonly untilMs: number;
  /** Those that are in one of these states when it is their turn. */
  readonly states: readonly ResendableState[];
  readonly createdAtMs: number;
}

/**
 * First it counts, then it sends again, oldest first; each delivery is passed once, whatever becomes of it. Not more than
 * LIMITS.resendsWaiting of a webhook wait at a time, so that pausing and cancelling take effect.
 */
export interface Operation extends NewOperation {
  readonly state: OperationState;
  /** How many matched when they were counted; null: not yet counted to the end. */
  readonly total: number | null;
  /** How many were set to be sent again. */
  readonly resent: number;
  /** How many fewer were sent again than were counted: in another state when it was their turn, or on their way. Told when it is done. */
  readonly passedOver: number;
  readonly updatedAtMs: number;
  readonly endedAtMs: number | null;
  /** Why it stands still or ended early, in words; null otherwise. */
  readonly reason: string | null;
}

/** What its owner may ask for. */
export type OperationOrder = 'pause' | 'resume' | 'cancel';

/** The state that an order leads to; undefined: it cannot be followed in this state. */
export function ordered(state: OperationState, order: OperationOrder): OperationState | undefined {
  if (state === 'done' || state === 'cancelled') return undefined;
  if (order === 'cancel') return 'cancelled';
  return order === 'pause' ? 'paused' : 'running';
}
