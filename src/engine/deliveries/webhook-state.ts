// One line: what this node knows of a webhook, and what follows from it. See delivery-limiter.ts.

import type { ClaimedDelivery } from '../../domain/delivery/delivery.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Webhook, WebhookSettings } from '../../domain/resource.ts';
import { Starts } from './sliding-window.ts';
import type { Footing } from './slot-shares.ts';

const MAILS_AT_ONCE = 4;
const CLAIMED_AHEAD = 32;
/** Those ahead per request on its way: more would stand in line for too long. */
const AHEAD_PER_REQUEST = 4;
/** Slower than this (smoothed), and nothing is claimed ahead. */
const FAST_MS = 100;
/** Slower than this (smoothed), or nothing came back for so long: it shares its hands with those that fail. */
const SLOW_MS = 1000;
/** For how long what is known of a webhook is good; a line of 32 before a fast webhook takes 400 ms at most. */
const GOOD_FOR_MS = 1000;
/** Weight of the newest attempt in the smoothed time. */
const NEWEST = 0.3;
/** Attempts failed in a row. */
const FAILING = 3;

interface Waiting {
  readonly delivery: ClaimedDelivery;
  readonly since: number;
}

export interface Line {
  readonly isMail: boolean;
  url: string | null;
  settings: WebhookSettings | null;
  /** Hands: of deliveries that are being claimed, stand in line, or are on their way. */
  held: number;
  sending: number;
  readonly waiting: Waiting[];
  tookMs: number | null;
  failedInRow: number;
  /** When something came back, or began while nothing was on its way. */
  heardAt: number;
  isStuck: boolean;
  footing: Footing;
  /** Of a webhook with a limit of its rate. */
  starts: Starts | null;
  /** Outcomes that stop it and are being recorded. */
  stops: number;
  /** Something is being claimed still that must not be sent. */
  isDraining: boolean;
  /** The last turn (see Lines.beginTurn) in which it was refused a hand. */
  refusedIn: number;
}

/** What came back. */
export interface Came {
  readonly tookMs: number;
  /** Null: the receiver asked to be left alone, which is no failure. */
  readonly isDelivered: boolean | null;
}

export function newLine(isMail: boolean): Line {
  return {
    isMail,
    url: null,
    settings: null,
    held: 0,
    sending: 0,
    waiting: [],
    tookMs: null,
    failedInRow: 0,
    heardAt: 0,
    isStuck: false,
    footing: isMail ? 'well' : 'unknown',
    starts: null,
    stops: 0,
    isDraining: false,
    refusedIn: 0,
  };
}

/** The webhook as the store knows it by now. */
export function adopt(line: Line, { url, settings }: Webhook): void {
  if (line.settings === settings && line.url === url) return;
  if (line.url !== null && line.url !== url) beginAnew(line);
  line.url = url;
  line.settings = settings;
  line.starts = settings.rateLimit ? (line.starts ?? new Starts()) : null;
}

/** How it did before says nothing. */
export function beginAnew(line: Line): void {
  line.tookMs = null;
  line.failedInRow = 0;
}

/** What an answer tells of its webhook. `now`: in milliseconds, of a clock that does not jump. */
export function learn(line: Line, { tookMs, isDelivered }: Came, now: number): void {
  line.tookMs = line.tookMs === null ? tookMs : line.tookMs + NEWEST * (tookMs - line.tookMs);
  if (isDelivered !== null) line.failedInRow = isDelivered ? 0 : line.failedInRow + 1;
  line.heardAt = now;
  line.isStuck = false;
}

/** To be asked now and then of a line with requests on their way. */
export function isStuck({ heardAt }: Line, now: number): boolean {
  return now - heardAt > SLOW_MS;
}

export function isFailing({ failedInRow }: Line): boolean {
  return failedInRow >= FAILING;
}

function isOneAtATime(line: Line): boolean {
  return line.settings?.ordered === true || isFailing(line);
}

/** Requests on their way at a time. */
export function sendingLimit(line: Line): number {
  if (line.isMail) return MAILS_AT_ONCE;
  if (isOneAtATime(line)) return 1;
  return line.settings?.maxInFlight ?? LIMITS.inFlightPerWebhook;
}

/** Deliveries held at a time. */
export function heldLimit(line: Line): number {
  const sending = sendingLimit(line);
  const { tookMs, failedInRow } = line;
  const isFast = tookMs !== null && tookMs < FAST_MS;
  if (!isFast || failedInRow > 0 || line.isStuck || !mayStandInLine(line)) return sending;
  return sending + Math.min(CLAIMED_AHEAD, AHEAD_PER_REQUEST * sending);
}

/** Whether its deliveries may be claimed ahead. */
export function mayStandInLine(line: Line): boolean {
  return !line.isMail && !isOneAtATime(line) && !line.settings?.rateLimit;
}

/** Only when the limit was lowered after the hand was taken. */
export function isOverRate({ settings, starts }: Line, now: number): boolean {
  const rate = settings?.rateLimit;
  return rate != null && starts !== null && starts.within(rate.intervalMs, now) >= rate.limit;
}

export function footingOf(line: Line): Footing {
  const { isMail, tookMs } = line;
  if (isMail) return 'well';
  if (isFailing(line) || line.isStuck) return 'weak';
  if (tookMs === null) return 'unknown';
  return tookMs >= SLOW_MS ? 'weak' : 'well';
}

export function isStopped({ stops, isDraining }: Line): boolean {
  return stops > 0 || isDraining;
}

/** Open again when nobody stops it and nothing is being claimed that was begun before. */
export function settle(line: Line): void {
  if (!line.isDraining || line.stops > 0) return;
  line.isDraining = line.held > line.sending + line.waiting.length;
}

/** How many from the head of the line. */
export function staleOf(line: Line, now: number): number {
  if (!mayStandInLine(line)) return line.waiting.length;
  const fresh = line.waiting.findIndex(({ since }) => now - since <= GOOD_FOR_MS);
  return fresh < 0 ? line.waiting.length : fresh;
}

/** Whether it may be forgotten: nothing is under way, nobody has stopped it, and its rate begins anew as well. */
export function isIdle({ held, stops, starts, settings }: Line, now: number): boolean {
  if (held > 0 || stops > 0) return false;
  return !starts || starts.within(settings?.rateLimit?.intervalMs ?? 0, now) === 0;
}
