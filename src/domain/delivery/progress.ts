// The progress of a delivery, and the state that follows from each thing that happens to it. Both stores write what is
// decided here.

import type { Webhook } from '../resource.ts';
import { type AttemptedState, type AttemptTrigger, type DeliveryState, type DueBy, isWebhook } from './delivery.ts';

export interface DeliveryProgress {
  /** Attempts that count: those postponed by the receiver (Retry-After) do not. */
  readonly attemptsMade: number;
  /** All attempts; also the number of the last one. */
  readonly requestsMade: number;
  /** Delays of the retry schedule used so far. */
  readonly tries: number;
  /** Reason for the current due time, or for the last one. */
  readonly dueBy: DueBy;
}

/** What a delivery becomes. */
export interface DeliveryMove {
  readonly state: DeliveryState;
  readonly progress: DeliveryProgress;
  /** Null unless the delivery waits to be claimed. */
  readonly dueAtMs: number | null;
}

/** A state in which a delivery waits to be claimed. */
export type WaitingState = 'pending' | 'retrying';

/** The state of a delivery whose webhook is disabled or deleted. */
export type ClosedState = 'held' | 'cancelled';

export function isWaiting(state: DeliveryState | null): state is WaitingState {
  return state === 'pending' || state === 'retrying';
}

/** What a change of a webhook makes of its deliveries that are not under way. Those under way end by themselves. */
export interface ListenerMove {
  readonly from: readonly (WaitingState | 'held')[];
  /** `waiting`: due at once, in the state of `waitingStateOf`. */
  readonly to: ClosedState | 'waiting';
}

/** The webhook is disabled. */
export const HOLD: ListenerMove = { from: ['pending', 'retrying'], to: 'held' };
/** The webhook is enabled. */
export const RELEASE: ListenerMove = { from: ['held'], to: 'waiting' };
/** The webhook is deleted. */
export const CANCEL: ListenerMove = { from: ['pending', 'retrying', 'held'], to: 'cancelled' };

/**
 * Returns the state of a new delivery to a listener that takes none. `webhook`: as it is now; undefined when deleted. Null: the
 * listener takes deliveries.
 */
export function closedStateOf(
  listenerId: string,
  webhook: Pick<Webhook, 'active'> | null | undefined,
): ClosedState | null {
  if (!isWebhook(listenerId)) return null;
  if (!webhook) return 'cancelled';
  return webhook.active ? null : 'held';
}

export interface AttemptResult {
  readonly state: AttemptedState;
  readonly nextAttemptAtMs: number | null;
  /** Set when the receiver asked for a pause; only with `retrying`. */
  readonly pauseUntilMs: number | null;
}

/**
 * Returns the progress of a delivery after an attempt. `closed`: the state that a waiting delivery takes because of its
 * listener.
 */
export function afterAttempt(
  before: DeliveryProgress,
  result: AttemptResult,
  closed: ClosedState | null,
): DeliveryMove {
  const isRetrying = result.state === 'retrying';
  const state = isRetrying ? (closed ?? 'retrying') : result.state;
  // Postponed by the receiver, or withheld.
  const counted = result.pauseUntilMs === null && result.state !== 'cancelled' ? 1 : 0;
  // A delivery that is over keeps the reason of its last attempt.
  const isOver = state !== 'retrying' && state !== 'held';
  const progress: DeliveryProgress = {
    attemptsMade: before.attemptsMade + counted,
    requestsMade: before.requestsMade + 1,
    tries: before.tries + counted,
    dueBy: isOver ? before.dueBy : counted === 0 ? 'retry_after' : 'schedule',
  };
  return { state, progress, dueAtMs: state === 'retrying' ? result.nextAttemptAtMs : null };
}

/** Returns the state of a leased delivery whose outcome is unknown: due at once, for the same reason as before. */
export function afterReturn(progress: DeliveryProgress, closed: ClosedState | null, nowMs: number): DeliveryMove {
  return { state: closed ?? waitingStateOf(progress), progress, dueAtMs: closed === null ? nowMs : null };
}

/** Returns `pending` before the first attempt, else `retrying`. */
export function waitingStateOf({ dueBy, requestsMade }: DeliveryProgress): WaitingState {
  return dueBy === 'event' && requestsMade === 0 ? 'pending' : 'retrying';
}

export function triggerOf({ dueBy, requestsMade }: DeliveryProgress): AttemptTrigger {
  if (dueBy === 'resend') return 'resend';
  return requestsMade === 0 ? 'event' : 'retry';
}

/** Why a delivery cannot be resent: its webhook is deleted, it is being sent, or it waits for its webhook to be enabled. */
export type NotResendable = 'gone' | 'sending' | 'held';

/** Returns why a delivery cannot be resent. Null: the delivery can be resent. */
export function reasonAgainstResending(
  { state, listenerId }: { readonly state: DeliveryState; readonly listenerId: string },
  webhook: Pick<Webhook, 'active'> | null | undefined,
): NotResendable | null {
  const closed = closedStateOf(listenerId, webhook);
  if (closed === 'cancelled') return 'gone';
  if (state === 'sending') return 'sending';
  return closed === 'held' || state === 'held' ? 'held' : null;
}
