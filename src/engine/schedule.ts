// When a schedule ticks, and the event that a tick is.

import { Cron } from 'croner';
import { utf8 } from '../domain/bytes.ts';
import { Refusal } from '../domain/fault.ts';
import { SECOND_MS } from '../domain/limits.ts';
import type { Schedule } from '../domain/resource.ts';

/**
 * Throws `Refusal` when the schedule cannot be: a cron expression or timezone that does not exist, or that never comes.
 * `parameter`: where in the request it stands.
 */
export function checkSchedule(schedule: Schedule, { nowMs, parameter }: { nowMs: number; parameter: string }): void {
  if (schedule.cron === null) return;
  const { cron, timezone } = schedule;
  const refuse = (name: string, message: string): never => {
    throw new Refusal('impossible', message, { errors: [{ parameter: `${parameter}.${name}`, message }] });
  };
  if (!isTimezone(timezone)) {
    refuse(
      'timezone',
      `timezone ${JSON.stringify(timezone)} is not known: it is a name like "Europe/Berlin", or "UTC"`,
    );
  }
  let next: Date | null = null;
  try {
    next = new Cron(cron, { timezone, mode: '5-or-6-parts' }).nextRun(new Date(nowMs));
  } catch (error) {
    refuse('cron', `cron ${JSON.stringify(cron)} cannot be read: ${whyNoCron(cron, error as Error)}`);
  }
  if (!next) refuse('cron', `cron ${JSON.stringify(cron)} never comes`);
}

/** The library's own words about it name no such thing until a date is made of it, and then many others. */
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

/**
 * The next tick after `nowMs`. `lastAtMs`: the tick that is being fired, to which an interval stays anchored; however
 * many ticks were missed, the next one lies in the future, so a missed one runs once.
 */
export function nextTickMs(schedule: Schedule, nowMs: number, lastAtMs: number | null = null): number {
  if (schedule.cron !== null) {
    const { cron, timezone } = schedule;
    const next = new Cron(cron, { timezone, mode: '5-or-6-parts' }).nextRun(new Date(nowMs));
    // A cron that never comes again sleeps for good; the largest date that JavaScript knows.
    return next ? next.getTime() : 8.64e15;
  }
  const intervalMs = schedule.intervalMs ?? SECOND_MS;
  if (lastAtMs === null) return nowMs + intervalMs;
  return lastAtMs + (Math.floor((nowMs - lastAtMs) / intervalMs) + 1) * intervalMs;
}

/** The event's bytes. */
export function tickEvent(schedule: Schedule, nowMs: number): Uint8Array {
  const timestamp = Math.floor(nowMs / 1000);
  if (schedule.cron === null) {
    const interval_seconds = (schedule.intervalMs ?? SECOND_MS) / 1000;
    return utf8(JSON.stringify({ timestamp, interval_seconds }));
  }
  const { cron, timezone } = schedule;
  const event = {
    timestamp,
    cron,
    timezone_configured: { timezone, iso8601: zonedIso(nowMs, timezone) },
    timezone_utc: { timezone: 'UTC', iso8601: new Date(nowMs).toISOString() },
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
