// The ticks of a schedule, and their events.

import { Cron } from 'croner';
import { utf8 } from '../../domain/bytes.ts';
import { LIMITS, SECOND_MS } from '../../domain/limits.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Schedule } from '../../domain/resource.ts';

/**
 * Throws `Refusal` for an invalid schedule: a wrong cron expression, an unknown timezone, or no next tick. `parameter`: its
 * path in the request, empty for the body itself.
 */
export function checkSchedule(schedule: Schedule, { nowMs, parameter }: { nowMs: number; parameter: string }): void {
  if (schedule.cron === null) return;
  const { cron, timezone } = schedule;
  const refuse = (name: string, message: string): never => {
    const path = parameter === '' ? name : `${parameter}.${name}`;
    throw new Refusal('impossible', message, { errors: [{ parameter: path, message }] });
  };
  if (!isTimezone(timezone)) {
    refuse('timezone', `timezone ${JSON.stringify(timezone)} is not known: use a name like "Europe/Berlin", or "UTC"`);
  }
  let next: Date | null = null;
  try {
    next = new Cron(cron, { timezone, mode: '5-or-6-parts' }).nextRun(new Date(nowMs));
  } catch (error) {
    refuse('cron', `cron ${JSON.stringify(cron)} cannot be read: ${whyNoCron(cron, error as Error)}`);
  }
  if (!next) refuse('cron', `cron ${JSON.stringify(cron)} has no next time`);
}

/**
 * Returns whether a timezone is known. Checked here: the library reports an unknown timezone only when it computes a date, with
 * varying errors.
 */
function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function whyNoCron(cron: string, { message }: Error): string {
  const fields = cron.trim().split(/\s+/).length;
  if (fields === 5 || fields === 6) return message.replace(/^Cron\w+: /, '');
  return `it has five fields, like "0 9 * * 1-5", or six with seconds before them, but here are ${fields}`;
}

/** Returns the first tick of a schedule after `nowMs`. */
export function firstTickMs(schedule: Schedule, nowMs: number): number {
  return isCron(schedule) ? cronAfterMs(schedule, nowMs) : nowMs + intervalOf(schedule);
}

/** One due time of a schedule that is fired. */
export interface DueTick {
  readonly dueAtMs: number;
  /** When the tick is fired; never before it is due. */
  readonly firedAtMs: number;
  /** The next due time in the future: this tick makes up for the missed ones. */
  readonly nextAtMs: number;
  /** Due times between `dueAtMs` and now, which get no tick. */
  readonly missed: number;
}

/**
 * Returns the tick that was due at `dueAtMs`, fired now. The next due time is always behind it: a clock that is behind, or
 * was set back since, would fire the same tick twice.
 */
export function dueTick(schedule: Schedule, dueAtMs: number, nowMs: number): DueTick {
  const firedAtMs = Math.max(nowMs, dueAtMs);
  if (isCron(schedule)) {
    const missed = missedOf(schedule, dueAtMs, firedAtMs);
    return { dueAtMs, firedAtMs, nextAtMs: cronAfterMs(schedule, firedAtMs), missed };
  }
  const intervalMs = intervalOf(schedule);
  const missed = Math.floor((firedAtMs - dueAtMs) / intervalMs);
  return { dueAtMs, firedAtMs, nextAtMs: dueAtMs + (missed + 1) * intervalMs, missed };
}

function intervalOf({ intervalMs }: Schedule): number {
  return intervalMs ?? SECOND_MS;
}

type CronSchedule = Schedule & { readonly cron: string };

function isCron(schedule: Schedule): schedule is CronSchedule {
  return schedule.cron !== null;
}

function cronAfterMs({ cron, timezone }: CronSchedule, ms: number): number {
  const next = new Cron(cron, { timezone, mode: '5-or-6-parts' }).nextRun(new Date(ms));
  // A cron without another tick sleeps forever: the largest date of JavaScript.
  return next ? next.getTime() : 8.64e15;
}

/** Counts due times behind `dueAtMs` and up to `nowMs`, at most LIMITS.missedTicks. */
function missedOf(schedule: CronSchedule, dueAtMs: number, nowMs: number): number {
  let missed = 0;
  let nextAtMs = cronAfterMs(schedule, dueAtMs);
  while (nextAtMs <= nowMs && missed < LIMITS.missedTicks) {
    missed++;
    nextAtMs = cronAfterMs(schedule, nextAtMs);
  }
  return missed;
}

/** Returns the event's bytes. */
export function tickEvent(schedule: Schedule, { dueAtMs, firedAtMs, missed }: Omit<DueTick, 'nextAtMs'>): Uint8Array {
  const timestamp = Math.floor(firedAtMs / 1000);
  const due = { due_at_ms: dueAtMs, missed_ticks: missed };
  if (schedule.cron === null) {
    return utf8(JSON.stringify({ timestamp, interval_seconds: intervalOf(schedule) / 1000, ...due }));
  }
  const { cron, timezone } = schedule;
  const event = {
    timestamp,
    cron,
    timezone_configured: { timezone, iso8601: zonedIso(firedAtMs, timezone) },
    timezone_utc: { timezone: 'UTC', iso8601: new Date(firedAtMs).toISOString() },
    ...due,
  };
  return utf8(JSON.stringify(event));
}

function zonedIso(nowMs: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
    hourCycle: 'h23',
  }).format(nowMs);
  const offset = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(nowMs)
    .find((part) => part.type === 'timeZoneName')?.value;
  const suffix = offset === undefined || offset === 'GMT' ? 'Z' : offset.replace('GMT', '');
  return parts.replace(', ', 'T') + suffix;
}
