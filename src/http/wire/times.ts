// Times as parameters.

import { Refusal } from '../../domain/refusal.ts';

export const TIME_WANTED = 'milliseconds since 1970, or ISO 8601 such as "2026-01-31T12:00:00Z"';

// Numbers of deliveries hold milliseconds up to 2^43.
const LAST_MS = 2 ** 43 - 1;
const MILLIS = /^\d{1,16}$/;
const ISO = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Returns epoch milliseconds. Refuses an invalid time with the parameter's name. */
export function timeOf(parameter: string, value: number | string): number {
  const ms = typeof value === 'number' ? value : MILLIS.test(value) ? Number(value) : isoMs(value);
  if (!(ms >= 0)) throw wrong(parameter, `must be ${TIME_WANTED}`, value);
  return Math.min(ms, LAST_MS);
}

/** Returns NaN for what is not an instant; a time of day without an offset is not. */
function isoMs(text: string): number {
  const day = ISO.exec(text)?.[1];
  if (day === undefined) return Number.NaN;
  const midnight = new Date(`${day}T00:00:00Z`);
  // Date.parse takes the 30th of February for a day in March.
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day)) return Number.NaN;
  return Date.parse(text);
}

export function wrong(parameter: string, wanted: string, was: unknown): Refusal {
  const message = `${wanted}, but was ${JSON.stringify(was).slice(0, 80)}`;
  return new Refusal('malformed', `${parameter} ${message}`, { errors: [{ parameter, message }] });
}
