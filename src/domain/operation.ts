// Work on many deliveries that goes on in the background: sending again what a webhook was sent.

import type { DeliveryState } from './delivery/delivery.ts';
import { NUMBERS_PER_MS } from './ids.ts';
import { LIMITS } from './limits.ts';

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

/** The lowest number that a delivery of that moment can have; of one beyond all numbers, the highest there is. */
export function firstNumberOf(ms: number): number {
  return Math.min(ms * NUMBERS_PER_MS, Number.MAX_SAFE_INTEGER);
}

/** The cursor in front of the first delivery that was accepted from then on. */
export function cursorAt(sinceMs: number): number {
  return firstNumberOf(sinceMs) - 1;
}

/** Where an operation stands. */
export interface OperationCursor extends Pick<NewOperation, 'sinceMs' | 'states'> {
  /** The last delivery that was looked at. */
  readonly after: number;
}

interface LookedAt {
  readonly delivery: number;
  readonly state: DeliveryState;
}

/**
 * One step of counting. `looked`: the deliveries of the webhook behind the cursor, in whatever state, oldest first and at
 * most LIMITS.operationStep of them. When all are counted, the cursor goes back to the beginning.
 */
export function countNext(
  of: OperationCursor,
  looked: readonly LookedAt[],
): { readonly matched: number; readonly isCounted: boolean; readonly after: number } {
  const isCounted = looked.length < LIMITS.operationStep;
  return {
    matched: meant(of, looked).length,
    isCounted,
    after: isCounted ? cursorAt(of.sinceMs) : (looked.at(-1)?.delivery ?? of.after),
  };
}

/** Those of the looked at that the operation is meant for. */
export function meant<D extends LookedAt>({ states }: Pick<OperationCursor, 'states'>, looked: readonly D[]): D[] {
  return looked.filter(({ state }) => (states as readonly DeliveryState[]).includes(state));
}

/**
 * One step of sending again: at most `room` of those it looked at, and none that `isThere` denies: retention is about to
 * take those. Done when no others are left behind the cursor.
 */
export function resendNext<D extends LookedAt>(
  of: OperationCursor,
  looked: readonly D[],
  { room, isThere = () => true }: { readonly room: number; readonly isThere?: (one: D) => boolean },
): { readonly chosen: readonly D[]; readonly after: number; readonly isDone: boolean } {
  const wanted = meant(of, looked).filter(isThere);
  const chosen = wanted.slice(0, room);
  if (chosen.length < wanted.length) return { chosen, after: chosen.at(-1)?.delivery ?? of.after, isDone: false };
  return { chosen, after: looked.at(-1)?.delivery ?? of.after, isDone: looked.length < LIMITS.operationStep };
}
