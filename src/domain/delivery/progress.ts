// How far a delivery has come, and the state that each thing that happens to it leads to. The stores write what is
// decided here; neither decides by itself.

import type { Webhook } from '../resource.ts';
import { type AttemptTrigger, type DeliveryState, type DueBy, isWebhook } from './delivery.ts';

export interface DeliveryProgress {
  /** Attempts that count: one that the receiver put off (Retry-After) does not. */
  readonly attemptsMade: number;
  /** All attempts; the number of the last one. */
  readonly requestsMade: number;
  /** Delays of the schedule that were used up. */
  readonly tries: number;
  /** Why it is due, or was due when it ended. */
  readonly dueBy: DueBy;
}

/** What a delivery becomes. */
export interface DeliveryMove {
  readonly state: DeliveryState;
  readonly progress: DeliveryProgress;
  /** Null unless it waits to be claimed. */
  readonly dueAtMs: number | null;
}

/** A state in which a delivery waits to be claimed. */
export type WaitingState = 'pending' | 'retrying';

/** A state that a delivery takes because its webhook cannot get it: it is disabled, or gone. */
export type ClosedState = 'held' | 'cancelled';

export function isWaiting(state: DeliveryState): state is WaitingState {
  return state === 'pending' || state === 'retrying';
}

/** `webhook`: as it is now; undefined for one that is gone. Null: its listener takes deliveries. */
export function closedStateOf(
  listenerId: string,
  webhook: Pick<Webhook, 'active'> | null | undefined,
): ClosedState | null {
  if (!isWebhook(listenerId)) return null;
  if (!webhook) return 'cancelled';
  return webhook.active ? null : 'held';
}

export interface AttemptResult {
  readonly state: 'delivered' | 'retrying' | 'exhausted';
  readonly nextAttemptAtMs: number | null;
  /** Set when the receiver asked to be left alone; only with `retrying`. */
  readonly pauseUntilMs: number | null;
}

/** `closed`: what its listener makes of a delivery that has to wait. */
export function afterAttempt(
  before: DeliveryProgress,
  result: AttemptResult,
  closed: ClosedState | null,
): DeliveryMove {
  const isRetrying = result.state === 'retrying';
  const state = isRetrying ? (closed ?? 'retrying') : result.state;
  const counted = result.pauseUntilMs === null ? 1 : 0;
  // What is over keeps the reason for its last attempt: it is due no more.
  const isOver = state !== 'retrying' && state !== 'held';
  const progress: DeliveryProgress = {
    attemptsMade: before.attemptsMade + counted,
    requestsMade: before.requestsMade + 1,
    tries: before.tries + counted,
    dueBy: isOver ? before.dueBy : counted === 0 ? 'retry_after' : 'schedule',
  };
  return { state, progress, dueAtMs: state === 'retrying' ? result.nextAttemptAtMs : null };
}

/** A delivery that was leased, and of which nothing is known: it is due at once, for the reason for which it was due. */
export function afterReturn(progress: DeliveryProgress, closed: ClosedState | null, nowMs: number): DeliveryMove {
  return { state: closed ?? waitingStateOf(progress), progress, dueAtMs: closed === null ? nowMs : null };
}

/** First attempts are `pending`; all others are retries. */
export function waitingStateOf({ dueBy, requestsMade }: DeliveryProgress): WaitingState {
  return dueBy === 'event' && requestsMade === 0 ? 'pending' : 'retrying';
}

export function triggerOf({ dueBy, requestsMade }: DeliveryProgress): AttemptTrigger {
  if (dueBy === 'resend') return 'resend';
  return requestsMade === 0 ? 'event' : 'retry';
}

/** Why a delivery cannot be sent again: its webhook is gone, it is under way, or it waits for its webhook to be enabled. */
export type NotResendable = 'gone' | 'sending' | 'held';

/** Null: it can be sent again. */
export function reasonAgainstResending(
  { state, listenerId }: { readonly state: DeliveryState; readonly listenerId: string },
  webhook: Pick<Webhook, 'active'> | null | undefined,
): NotResendable | null {
  const closed = closedStateOf(listenerId, webhook);
  if (closed === 'cancelled') return 'gone';
  if (state === 'sending') return 'sending';
  return closed === 'held' || state === 'held' ? 'held' : null;
}
