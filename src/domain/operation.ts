// Operations: background work on many records. One kind resends deliveries of a webhook, one replays errors.

import type { DeliveryState } from './delivery/delivery.ts';
import type { Replaying, ReplayOrder } from './errors/replaying.ts';
import { NUMBERS_PER_MS } from './ids.ts';
import { LIMITS } from './limits.ts';

export const OPERATION_STATES = ['running', 'paused', 'done', 'cancelled'] as const;
export type OperationState = (typeof OPERATION_STATES)[number];

/** States of deliveries that can be resent. */
export const RESENDABLE = [
  'exhausted',
  'delivered',
  'cancelled',
  'retrying',
] as const satisfies readonly DeliveryState[];

export type ResendableState = (typeof RESENDABLE)[number];

export const OPERATION_KINDS = ['resend', 'replay'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/** A new operation that resends. */
export interface NewOperation {
  /** `op_…`. */
  readonly id: string;
  readonly ownerId: string;
  readonly kind: 'resend';
  readonly webhookId: string;
  /** Deliveries accepted from this time on … */
  readonly sinceMs: number;
  /** … and before this time. */
  readonly untilMs: number;
  /** Deliveries that are in one of these states when their turn comes. */
  readonly states: readonly ResendableState[];
  readonly createdAtMs: number;
}

/** A new operation that replays errors: those of its selection that there are when it is created. */
export interface NewReplay {
  readonly id: string;
  readonly ownerId: string;
  readonly kind: 'replay';
  readonly order: ReplayOrder;
  /** An end of the log (StreamStore.logEnd): no error is added before it any more, which the operation would pass by. */
  readonly logEnd: number;
  readonly createdAtMs: number;
}

/**
 * An operation first counts, then resends or replays, oldest first; each delivery or error is passed once, whatever its result.
 * At most LIMITS.resendsWaiting deliveries of a webhook wait at a time, and LIMITS.replaysUnderWay replays of an operation are
 * under way, so that pausing and cancelling take effect.
 */
export interface Operation extends Omit<NewOperation, 'kind' | 'webhookId'> {
  readonly kind: OperationKind;
  /** Null: it replays errors. So is what it says about deliveries: none, of no time. */
  readonly webhookId: string | null;
  /** Null: it resends deliveries. */
  readonly replaying: Replaying | null;
  readonly state: OperationState;
  /** Number of matching deliveries or errors; null: counting is not finished. */
  readonly total: number | null;
  /** Number of deliveries resent so far. */
  readonly resent: number;
  /** Counted deliveries that were not resent: no longer in a matching state, or being sent. Known when the operation is done. */
  readonly passedOver: number;
  readonly updatedAtMs: number;
  readonly endedAtMs: number | null;
  /** Why the operation is paused or ended early, in words; null otherwise. */
  readonly reason: string | null;
}

/** What its owner may order. */
export const OPERATION_ORDERS = ['pause', 'resume', 'cancel'] as const;
export type OperationOrder = (typeof OPERATION_ORDERS)[number];

/** Returns the state that follows from an order; undefined: the order is not possible in this state. */
export function ordered(state: OperationState, order: OperationOrder): OperationState | undefined {
  if (state === 'done' || state === 'cancelled') return undefined;
  if (order === 'cancel') return 'cancelled';
  return order === 'pause' ? 'paused' : 'running';
}

/** Returns the lowest delivery number of that moment; the highest number there is for a moment beyond all numbers. */
export function firstNumberOf(ms: number): number {
  return Math.min(ms * NUMBERS_PER_MS, Number.MAX_SAFE_INTEGER);
}

/** Returns the cursor in front of the first delivery accepted from that time on. */
export function cursorAt(sinceMs: number): number {
  return firstNumberOf(sinceMs) - 1;
}

/** The position of an operation. */
export interface OperationCursor extends Pick<Operation, 'sinceMs' | 'states'> {
  /** The last delivery examined. */
  readonly after: number;
}

interface PassedDelivery {
  readonly delivery: number;
  readonly state: DeliveryState;
}

/**
 * Makes one step of counting. `looked`: the webhook's deliveries behind the cursor, in any state, oldest first, at most
 * LIMITS.operationStep. When all are counted, the cursor goes back to the beginning.
 */
export function countNext(
  of: OperationCursor,
  looked: readonly PassedDelivery[],
): { readonly matched: number; readonly isCounted: boolean; readonly after: number } {
  const isCounted = looked.length < LIMITS.operationStep;
  return {
    matched: meant(of, looked).length,
    isCounted,
    after: isCounted ? cursorAt(of.sinceMs) : (looked.at(-1)?.delivery ?? of.after),
  };
}

/** Returns the examined deliveries that the operation applies to. */
export function meant<D extends PassedDelivery>(
  { states }: Pick<OperationCursor, 'states'>,
  looked: readonly D[],
): D[] {
  return looked.filter(({ state }) => (states as readonly DeliveryState[]).includes(state));
}

/**
 * Makes one step of resending: at most `room` of the examined deliveries, and none for which `isThere` is false, since
 * retention is about to delete it. Done when no delivery is left behind the cursor.
 */
export function resendNext<D extends PassedDelivery>(
  of: OperationCursor,
  looked: readonly D[],
  { room, isThere = () => true }: { readonly room: number; readonly isThere?: (one: D) => boolean },
): { readonly chosen: readonly D[]; readonly after: number; readonly isDone: boolean } {
  const wanted = meant(of, looked).filter(isThere);
  const chosen = wanted.slice(0, room);
  if (chosen.length < wanted.length) return { chosen, after: chosen.at(-1)?.delivery ?? of.after, isDone: false };
  return { chosen, after: looked.at(-1)?.delivery ?? of.after, isDone: looked.length < LIMITS.operationStep };
}
