// The health of a webhook: judged with each attempt, in the transaction that records the attempt.

import { LIMITS } from '../limits.ts';
import type { Webhook } from '../resource.ts';
import type { AttemptedState } from './delivery.ts';

export interface WebhookHealth {
  /** Time of the first failed attempt since the last success; null: the last attempt succeeded, or there was none. */
  readonly failingSinceMs: number | null;
  /** Deliveries exhausted since the last success. */
  readonly exhaustedInRow: number;
  /** When `WebhookFailing` was emitted; null: not since the last success. */
  readonly noticedAtMs: number | null;
  /** The receiver asked for no requests until then (Retry-After); null: no such request. May lie in the past. */
  readonly pausedUntilMs: number | null;
}

export const HEALTHY: WebhookHealth = {
  failingSinceMs: null,
  exhaustedInRow: 0,
  noticedAtMs: null,
  pausedUntilMs: null,
};

export type HealthNotice = 'WebhookFailing' | 'WebhookDisabled';

export interface HealthError {
  readonly code: HealthNotice;
  readonly failingSinceMs: number;
  readonly exhaustedInRow: number;
}

export interface HealthChange {
  readonly health: WebhookHealth;
  /** To be emitted as `$errors` of the webhook. `WebhookDisabled`: the webhook is also disabled. */
  readonly notice: HealthError | null;
}

export interface AttemptEffect {
  readonly state: AttemptedState;
  readonly pauseUntilMs: number | null;
  readonly nowMs: number;
}

/** Judges an active webhook. Returns the same object when nothing changed, so that the store writes nothing. */
export function judgeHealth(before: WebhookHealth, { state, pauseUntilMs, nowMs }: AttemptEffect): HealthChange {
  const pausedUntilMs = later(before.pausedUntilMs, pauseUntilMs);
  if (state === 'delivered') {
    const isWell = before.failingSinceMs === null;
    return { health: isWell ? before : { ...HEALTHY, pausedUntilMs }, notice: null };
  }
  const failingSinceMs = before.failingSinceMs ?? nowMs;
  const exhaustedInRow = before.exhaustedInRow + (state === 'exhausted' ? 1 : 0);
  const isFailing = exhaustedInRow >= LIMITS.exhaustedInRow || nowMs - failingSinceMs >= LIMITS.failingMs;
  // A webhook is disabled only long after a notice: its owner has at least a day to react, however rare deliveries are.
  const wasNoticed = before.noticedAtMs !== null && nowMs - before.noticedAtMs >= LIMITS.failingMs;
  if (wasNoticed && nowMs - failingSinceMs >= LIMITS.disablingMs) {
    return { health: HEALTHY, notice: { code: 'WebhookDisabled', failingSinceMs, exhaustedInRow } };
  }
  const isNew = isFailing && before.noticedAtMs === null;
  const isSame =
    !isNew &&
    before.failingSinceMs !== null &&
    exhaustedInRow === before.exhaustedInRow &&
    pausedUntilMs === before.pausedUntilMs;
  if (isSame) return { health: before, notice: null };
  const noticedAtMs = isNew ? nowMs : before.noticedAtMs;
  return {
    health: { failingSinceMs, exhaustedInRow, noticedAtMs, pausedUntilMs },
    notice: isNew ? { code: 'WebhookFailing', failingSinceMs, exhaustedInRow } : null,
  };
}

export interface AttemptSigns {
  /** The webhook now; undefined: deleted. */
  readonly webhook: Pick<Webhook, 'url' | 'active'> | null | undefined;
  /** The URL of the attempt. */
  readonly attemptedUrl: string | undefined;
  readonly state: AttemptEffect['state'];
  readonly pauseUntilMs: number | null;
  /** The receiver answered 410. */
  readonly disableWebhook: boolean;
  readonly nowMs: number;
}

export interface WebhookJudged extends HealthChange {
  /** The webhook is to be disabled, and its waiting deliveries become `held`. */
  readonly isDisabled: boolean;
}

/** Judges a webhook by an attempt. A deleted webhook, or one whose URL has changed, is not judged. */
export function judgeWebhook(before: WebhookHealth, signs: AttemptSigns): WebhookJudged {
  const { webhook, attemptedUrl, disableWebhook } = signs;
  if (!webhook || webhook.url !== attemptedUrl) return { health: before, notice: null, isDisabled: false };
  if (disableWebhook) return { health: HEALTHY, notice: null, isDisabled: true };
  if (!webhook.active) return { health: before, notice: null, isDisabled: false };
  const { health, notice } = judgeHealth(before, signs);
  return { health, notice, isDisabled: notice?.code === 'WebhookDisabled' };
}

/** Returns the health of the target of code's requests, of which only the pause is stored. */
export function pauseAfterRequest(before: WebhookHealth, pauseUntilMs: number | null): WebhookHealth {
  if (pauseUntilMs === null) return before;
  return { ...HEALTHY, pausedUntilMs: later(before.pausedUntilMs, pauseUntilMs) };
}

function later(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

/** Returns the notice in words. `lastDetail`: the detail of the last attempt. */
export function noticeText({ code, failingSinceMs, exhaustedInRow }: HealthError, lastDetail: string): string {
  const from = new Date(failingSinceMs).toISOString();
  const exhausted = `${exhaustedInRow} ${exhaustedInRow === 1 ? 'delivery' : 'deliveries'} exhausted`;
  const what = `No attempt has succeeded since ${from} (${exhausted}). The last one: ${lastDetail}`;
  return code === 'WebhookFailing'
    ? `The webhook fails. ${what}`
    : `The webhook was disabled. ${what} Deliveries are held and go out when it is enabled again.`;
}
