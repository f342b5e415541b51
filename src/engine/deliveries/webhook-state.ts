// What this node knows of one listener (a webhook, the owner's mail, a place that requests go to): how fast it answers, whether
// it fails, when its newest requests began; and how many slots it may have for it. See delivery-limiter.ts.

import type { ClaimedDelivery } from '../../domain/delivery/delivery.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Webhook, WebhookSettings } from '../../domain/resource.ts';

const MAILS_AT_ONCE = 4;
const CLAIMED_AHEAD = 32;
/** Deliveries claimed ahead per request on its way: more would be queued for too long. */
const AHEAD_PER_REQUEST = 4;
/** The same for a webhook that answers at once: while the ends of some attempts are committed, others come back. */
const AHEAD_OF_FASTEST = 56;
const AHEAD_PER_FASTEST = 7;
/** Faster than this (smoothed): it answers at once. */
const FASTEST_MS = 20;
/** Slower than this (smoothed), and nothing is claimed ahead. */
const FAST_MS = 100;
/** A webhook that is slower than this (smoothed), or has not answered for so long, shares its slots with failing webhooks. */
const SLOW_MS = 1000;
/** For how long a queued delivery may be sent without asking the store; a queue of 32 before a fast webhook takes 400 ms at most. */
const GOOD_FOR_MS = 1000;
/** Weight of the newest attempt in the smoothed time. */
const NEWEST = 0.3;
/** Attempts failed in a row. */
const FAILING = 3;

interface Queued {
  readonly delivery: ClaimedDelivery;
  readonly since: number;
}

/** `well`: answers fast enough. `unknown`: has not answered yet. `weak`: fails, or is slow. */
export type HealthState = 'well' | 'unknown' | 'weak';

export interface WebhookState {
  readonly isMail: boolean;
  url: string | null;
  settings: WebhookSettings | null;
  /** Slots taken: of deliveries that are being claimed, are queued here, or are on their way. */
  slots: number;
  sending: number;
  readonly queued: Queued[];
  tookMs: number | null;
  failedInRow: number;
  /** When an answer came, or a request began while no other was on its way. */
  heardAt: number;
  isStuck: boolean;
  health: HealthState;
  /** Null: the webhook has no rate limit. */
  window: SlidingWindow | null;
  /** Outcomes that stop the webhook and are being recorded. */
  stops: number;
  /** A delivery is still being claimed that must not be sent. */
  isDraining: boolean;
  /** The last round of claims (see DeliveryLimiter.beginClaim) in which the webhook was refused a slot. */
  refusedIn: number;
}

/** What came back. */
export interface Came {
  readonly tookMs: number;
  /** Null: the receiver asked to be left alone, which is no failure. */
  readonly isDelivered: boolean | null;
}

export function newState(isMail: boolean): WebhookState {
  return {
    isMail,
    url: null,
    settings: null,
    slots: 0,
    sending: 0,
    queued: [],
    tookMs: null,
    failedInRow: 0,
    heardAt: 0,
    isStuck: false,
    health: isMail ? 'well' : 'unknown',
    window: null,
    stops: 0,
    isDraining: false,
    refusedIn: 0,
  };
}

/** Takes over address and settings of a webhook as the store has them now. */
export function adopt(state: WebhookState, { url, settings }: Webhook): void {
  if (state.settings === settings && state.url === url) return;
  if (state.url !== null && state.url !== url) forgetSpeed(state);
  state.url = url;
  state.settings = settings;
  state.window = settings.rateLimit ? (state.window ?? new SlidingWindow()) : null;
}

/** Forgets how fast and how well the webhook answered. */
export function forgetSpeed(state: WebhookState): void {
  state.tookMs = null;
  state.failedInRow = 0;
}

/** Records what an answer tells of its webhook. `now`: in milliseconds, of a clock that does not jump. */
export function learn(state: WebhookState, { tookMs, isDelivered }: Came, now: number): void {
  state.tookMs = state.tookMs === null ? tookMs : state.tookMs + NEWEST * (tookMs - state.tookMs);
  if (isDelivered !== null) state.failedInRow = isDelivered ? 0 : state.failedInRow + 1;
  state.heardAt = now;
  state.isStuck = false;
}

/** Returns whether a listener with requests on their way has not answered for too long. */
export function isStuck({ heardAt }: WebhookState, now: number): boolean {
  return now - heardAt > SLOW_MS;
}

export function isFailing({ failedInRow }: WebhookState): boolean {
  return failedInRow >= FAILING;
}

function isOneAtATime(state: WebhookState): boolean {
  return state.settings?.ordered === true || isFailing(state);
}

/** Returns how many requests may be on their way at a time. */
export function sendingLimit(state: WebhookState): number {
  if (state.isMail) return MAILS_AT_ONCE;
  if (isOneAtATime(state)) return 1;
  return state.settings?.maxInFlight ?? LIMITS.inFlightPerWebhook;
}

/** Returns how many slots the listener may have at a time. */
export function slotLimit(state: WebhookState): number {
  const sending = sendingLimit(state);
  const { tookMs, failedInRow } = state;
  const isFast = tookMs !== null && tookMs < FAST_MS;
  if (!isFast || failedInRow > 0 || state.isStuck || !mayQueue(state)) return sending;
  if (tookMs < FASTEST_MS) return sending + Math.min(AHEAD_OF_FASTEST, AHEAD_PER_FASTEST * sending);
  return sending + Math.min(CLAIMED_AHEAD, AHEAD_PER_REQUEST * sending);
}

/** Returns whether deliveries of the listener may be claimed ahead, and queued here. */
export function mayQueue(state: WebhookState): boolean {
  return !state.isMail && !isOneAtATime(state) && !state.settings?.rateLimit;
}

/** Returns whether the rate is beyond its limit, as when the limit was lowered after a slot was taken. */
export function isOverRate({ settings, window }: WebhookState, now: number): boolean {
  const rate = settings?.rateLimit;
  return rate != null && window !== null && window.within(rate.intervalMs, now) >= rate.limit;
}

export function healthStateOf(state: WebhookState): HealthState {
  const { isMail, tookMs } = state;
  if (isMail) return 'well';
  if (isFailing(state) || state.isStuck) return 'weak';
  if (tookMs === null) return 'unknown';
  return tookMs >= SLOW_MS ? 'weak' : 'well';
}

export function isStopped({ stops, isDraining }: WebhookState): boolean {
  return stops > 0 || isDraining;
}

/** Opens the webhook again when no outcome stops it, and no claim from before is under way. */
export function settle(state: WebhookState): void {
  if (!state.isDraining || state.stops > 0) return;
  state.isDraining = state.slots > state.sending + state.queued.length;
}

/** Returns how many deliveries at the head of the queue must not be sent any more. */
export function staleOf(state: WebhookState, now: number): number {
  if (!mayQueue(state)) return state.queued.length;
  const fresh = state.queued.findIndex(({ since }) => now - since <= GOOD_FOR_MS);
  return fresh < 0 ? state.queued.length : fresh;
}

/** Returns whether the state may be forgotten: it has no slots, no outcome stops it, and its rate begins at zero, too. */
export function isIdle({ slots, stops, window, settings }: WebhookState, now: number): boolean {
  if (slots > 0 || stops > 0) return false;
  return !window || window.within(settings?.rateLimit?.intervalMs ?? 0, now) === 0;
}

const WINDOW_ROOM = 8;

/**
 * When the newest requests to a rate-limited webhook began: the whole truth about the last interval, so that the limit holds
 * in every interval, wherever it begins. Counting by fixed intervals would let twice the limit through across a border.
 */
export class SlidingWindow {
  /** A ring that grows as far as the limit makes it: 8 bytes per request of the interval. */
  #times = new Float64Array(WINDOW_ROOM);
  #first = 0;
  #count = 0;

  /** Returns how many requests began less than `intervalMs` before `now`, and forgets older ones. */
  within(intervalMs: number, now: number): number {
    while (this.#count > 0 && this.#at(0) + intervalMs <= now) {
      this.#first = (this.#first + 1) % this.#times.length;
      this.#count--;
    }
    if (this.#count === 0 && this.#times.length > WINDOW_ROOM) this.#times = new Float64Array(WINDOW_ROOM);
    if (this.#count === 0) this.#first = 0;
    return this.#count;
  }

  /** Returns when a request began: 0 is the oldest that is known. Undefined: there are fewer. */
  time(index: number): number | undefined {
    return index < this.#count ? this.#at(index) : undefined;
  }

  /** Records that a request begins. `now` is never less than the time before. */
  add(now: number): void {
    if (this.#count === this.#times.length) this.#grow();
    this.#times[(this.#first + this.#count) % this.#times.length] = now;
    this.#count++;
  }

  #at(index: number): number {
    return this.#times[(this.#first + index) % this.#times.length] as number;
  }

  #grow(): void {
    const times = new Float64Array(this.#times.length * 2);
    for (let i = 0; i < this.#count; i++) times[i] = this.#at(i);
    this.#times = times;
    this.#first = 0;
  }
}
