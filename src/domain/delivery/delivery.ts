// A delivery: one emission on its way to one webhook, one mail to the owner, or one request that code asked for.

import type { Emission } from '../emission.ts';
import { msOf } from '../ids.ts';
import { LIMITS } from '../limits.ts';
import type { Via, Webhook } from '../resource.ts';
import { isRequestListener } from './http-request.ts';
import type { SentRequest } from './webhook-request.ts';

export const DELIVERY_STATES = [
  'pending',
  'sending',
  'retrying',
  'held',
  'delivered',
  'exhausted',
  'cancelled',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The state of a delivery after an attempt. `cancelled`: the attempt was withheld. */
export type AttemptedState = Extract<DeliveryState, 'delivered' | 'retrying' | 'exhausted' | 'cancelled'>;

export type DeliveryKind = 'webhook' | 'mail' | 'http';

/** The listener id of every mail delivery. */
export const MAIL = 'mail';

export function isWebhook(listenerId: string): boolean {
  return listenerId.startsWith('wh_');
}

export function kindOf(listenerId: string): DeliveryKind {
  if (listenerId === MAIL) return 'mail';
  return isRequestListener(listenerId) ? 'http' : 'webhook';
}

export type AttemptTrigger = 'event' | 'retry' | 'resend' | 'test';

export interface DeliveryLease {
  readonly delivery: number;
  readonly fence: number;
}

/** A delivery leased to this node, which must attempt or release it. */
export interface ClaimedDelivery extends DeliveryLease {
  readonly kind: DeliveryKind;
  readonly emission: Emission;
  readonly subscriptionId: string | null;
  readonly via: Via;
  /** Null for a mail and for a request. */
  readonly webhook: Webhook | null;
  /** The recipient; null: the mail goes only into the outbox folder. */
  readonly mailTo: string | null;
  /** Number of this attempt, from 1; attempts that the receiver postponed (Retry-After) do not count. */
  readonly attempt: number;
  /** Delays of the retry schedule used so far: failed attempts since the delivery was accepted or resent. */
  readonly tries: number;
  readonly trigger: AttemptTrigger;
}

/** `withheld`: nothing was sent, since what it would tell of is known. */
export const ATTEMPT_OUTCOMES = [
  'answered',
  'timeout',
  'refused',
  'reset',
  'tls',
  'dns',
  'forbidden',
  'withheld',
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** The result of one attempt: a value, never an exception. */
export interface Attempt {
  readonly startedAtMs: number;
  readonly tookMs: number;
  readonly timing: {
    readonly dnsMs: number | null;
    readonly connectMs: number | null;
    readonly firstByteMs: number | null;
  };
  readonly outcome: AttemptOutcome;
  /** HTTP status or SMTP reply code; null when no server answered. */
  readonly status: number | null;
  /** At most 4 KiB. Values that are secrets are hidden. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** At most the first 4 KiB, as text. */
  readonly responseBody: string;
  /** One sentence that says what happened. Contains no secret and no address of this server. */
  readonly detail: string;
  /** Mail: a final reply (SMTP 5xx). */
  readonly permanent: boolean;
  /** The wait that the receiver asked for with 429 or 503; null or absent: none. */
  readonly retryAfterMs?: number | null;
  /** Only of a request to a webhook that was made, whether or not a server was reached. */
  readonly sent?: SentRequest;
}

/** Reason for the due time of a delivery. */
export type DueBy = 'event' | 'schedule' | 'retry_after' | 'resend';

export type AttemptDecision =
  | { readonly state: 'delivered' }
  /** `isPause`: every delivery to this listener waits that long, and the attempt does not count. */
  | { readonly state: 'retrying'; readonly inMs: number; readonly isPause: boolean }
  | { readonly state: 'exhausted'; readonly code: 'DeliveryExhausted' | 'DeliveryRefused' | 'WebhookGone' };

/** Returns the state after an attempt. `jitter` is uniform in [0, 1). */
export function decide(delivery: ClaimedDelivery, made: Attempt, jitter: number): AttemptDecision {
  const { kind, tries, webhook } = delivery;
  if (made.outcome === 'forbidden') return { state: 'exhausted', code: 'DeliveryRefused' };
  if (made.outcome === 'answered' && made.status !== null) {
    if (made.status >= 200 && made.status < 300) return { state: 'delivered' };
    if (made.status === 410) return { state: 'exhausted', code: kind === 'http' ? 'DeliveryExhausted' : 'WebhookGone' };
  }
  if (made.permanent) return { state: 'exhausted', code: 'DeliveryExhausted' };
  // No jitter: never earlier than the receiver asked for.
  const askedMs = made.retryAfterMs ?? 0;
  if (askedMs > 0 && mayBePutOff(delivery, made)) return { state: 'retrying', inMs: askedMs, isPause: true };
  const delayMs = (webhook?.settings.retryDelaysMs ?? LIMITS.retryDelaysMs)[tries];
  if (delayMs === undefined) return { state: 'exhausted', code: 'DeliveryExhausted' };
  const inMs = Math.max(askedMs, Math.round(delayMs * (1 + LIMITS.retryJitter * (2 * jitter - 1))));
  return { state: 'retrying', inMs, isPause: false };
}

/**
 * Returns whether a delivery may still be postponed. A webhook that always postpones shows in its health. Targets of code's
 * requests have no health, so postponing ends there.
 */
function mayBePutOff({ kind, delivery }: ClaimedDelivery, { startedAtMs }: Attempt): boolean {
  return kind !== 'http' || startedAtMs - msOf(delivery) < LIMITS.requestPutOffMs;
}
