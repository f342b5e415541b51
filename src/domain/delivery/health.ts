// Whether a webhook is well: judged with each attempt, in the transaction that records it.

import { LIMITS } from '../limits.ts';
import type { Webhook } from '../resource.ts';

export interface WebhookHealth {
  /** The first attempt that failed since the last success; null: the last one succeeded, or there was none. */
  readonly failingSinceMs: number | null;
  /** Deliveries exhausted since the last success. */
  readonly exhaustedInRow: number;
  /** When `WebhookFailing` was told; null: not since the last success. */
  readonly noticedAtMs: number | null;
  /** The receiver asked to be left alone until then (Retry-After); null: it did not. May lie in the past. */
  readonly pausedUntilMs: number | null;
}

export const HEALTHY: WebhookHealth = {
  failingSinceMs: null,
  exhaustedInRow: 0,
  noticedAtMs: null,
  pausedUntilMs: null,
};

export type HealthNotice = 'WebhookFailing' | 'WebhookDisabled';

export interface Notice {
  readonly code: HealthNotice;
  readonly failingSinceMs: number;
  readonly exhaustedInRow: number;
}

export interface Judged {
  readonly health: WebhookHealth;
  /** To be emitted as `$errors` of the webhook. `WebhookDisabled`: and it is to be disabled. */
  readonly notice: Notice | null;
}

export interface Judgement {
  readonly state: 'delivered' | 'retrying' | 'exhausted';
  readonly pauseUntilMs: number | null;
  readonly nowMs: number;
}

/** Of a webhook that is active. The same object comes back when nothing changed, so that nothing needs to be written. */
export function judgeHealth(before: WebhookHealth, { state, pauseUntilMs, nowMs }: Judgement): Judged {
  const pausedUntilMs = later(before.pausedUntilMs, pauseUntilMs);
  if (state === 'delivered') {
    const isWell = before.failingSinceMs === null;
    return { health: isWell ? before : { ...HEALTHY, pausedUntilMs }, notice: null };
  }
  const failingSinceMs = before.failingSinceMs ?? nowMs;
  const exhaustedInRow = before.exhaustedInRow + (state === 'exhausted' ? 1 : 0);
  const isFailing = exhaustedInRow >= LIMITS.exhaustedInRow || nowMs - failingSinceMs >= LIMITS.failingMs;
  // Never without a notice long before: its reader has at least a day to correct it, however seldom something is sent.
  const wasTold = before.noticedAtMs !== null && nowMs - before.noticedAtMs >= LIMITS.failingMs;
  if (wasTold && nowMs - failingSinceMs >= LIMITS.disablingMs) {
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
  /** As it is now; undefined: it is gone. */
  readonly webhook: Pick<Webhook, 'url' | 'active'> | null | undefined;
  /** The URL that the attempt was made to. */
  readonly attemptedUrl: string | undefined;
  readonly state: Judgement['state'];
  readonly pauseUntilMs: number | null;
  /** The receiver answered 410. */
  readonly disableWebhook: boolean;
  readonly nowMs: number;
}

export interface WebhookJudged extends Judged {
  /** The webhook is to be disabled, and what waits for it to be held. */
  readonly isDisabled: boolean;
}

/** What an attempt says of the health of its webhook. Of one that is gone, or has another URL by now: nothing. */
export function judgeWebhook(before: WebhookHealth, signs: AttemptSigns): WebhookJudged {
  const { webhook, attemptedUrl, disableWebhook } = signs;
  if (!webhook || webhook.url !== attemptedUrl) return { health: before, notice: null, isDisabled: false };
  if (disableWebhook) return { health: HEALTHY, notice: null, isDisabled: true };
  if (!webhook.active) return { health: before, notice: null, isDisabled: false };
  const { health, notice } = judgeHealth(before, signs);
  return { health, notice, isDisabled: notice?.code === 'WebhookDisabled' };
}

/** What an attempt says of a place that requests of code go to: of its health nothing is kept but the pause. */
export function pauseAfterRequest(before: WebhookHealth, pauseUntilMs: number | null): WebhookHealth {
  if (pauseUntilMs === null) return before;
  return { ...HEALTHY, pausedUntilMs: later(before.pausedUntilMs, pauseUntilMs) };
}

function later(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

/** In words. `lastDetail`: what the last attempt came to. */
export function noticeText({ code, failingSinceMs, exhaustedInRow }: Notice, lastDetail: string): string {
  const from = new Date(failingSinceMs).toISOString();
  const exhausted = `${exhaustedInRow} ${exhaustedInRow === 1 ? 'delivery' : 'deliveries'} exhausted`;
  const what = `No attempt has succeeded since ${from} (${exhausted}). The last one: ${lastDetail}`;
  return code === 'WebhookFailing'
    ? `The webhook fails. ${what}`
    : `The webhook was disabled. ${what} Deliveries are held and go out when it is enabled again.`;
}
