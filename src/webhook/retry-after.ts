// Retry-After (RFC 9110, 10.2.3): a number of seconds, or a date in one of the three forms of HTTP. Any other value, or one
// that asks for no wait, is ignored, and the ordinary schedule applies.

import { DAY_MS, LIMITS, SECOND_MS } from '../domain/limits.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';
const SHORT = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';

// Sun, 06 Nov 1994 08:49:37 GMT · Sunday, 06-Nov-94 08:49:37 GMT · Sun Nov  6 08:49:37 1994
const DATES = [
  new RegExp(`^${SHORT}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^${SHORT} ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`),
];

/** A year of two digits lies at most so far ahead (RFC 9110, 5.6.7). */
const YEARS_AHEAD = 50;
const STATUSES: ReadonlySet<number | null> = new Set([429, 503]);

export interface ReceiverAnswer {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Returns the wait that a receiver asked for, counted from `nowMs`: whole milliseconds, rounded up so that no request is
 * early, at most LIMITS.retryAfterMs. Null: it asked for none, or the value is invalid.
 */
export function retryAfterMs({ status, headers }: ReceiverAnswer, nowMs: number): number | null {
  const given = headers['retry-after'];
  // A repeated header is ambiguous, even with equal values.
  if (!STATUSES.has(status) || typeof given !== 'string') return null;
  // The parser leaves white space behind a value, which is no part of it (RFC 9110, 5.5).
  const value = given.replace(/^[ \t]+|[ \t]+$/g, '');
  const waitMs = /^\d+$/.test(value) ? secondsAsMs(value) : dateMs(value, nowMs) - nowMs;
  return waitMs > 0 ? Math.min(Math.ceil(waitMs), LIMITS.retryAfterMs) : null;
}

/** Returns NaN for an implausible number. */
function secondsAsMs(digits: string): number {
  const seconds = Number(digits);
  return Number.isSafeInteger(seconds) ? seconds * SECOND_MS : Number.NaN;
}

/** Returns NaN for text that is no date. */
function dateMs(text: string, nowMs: number): number {
  const parts = DATES.map((form) => form.exec(text)).find((match) => match !== null)?.groups;
  if (!parts) return Number.NaN;
  const { year = '', month = '', day = '', hour, minute, second } = parts;
  const dayMs = startOfDayMs(year.length === 2 ? fullYear(Number(year), nowMs) : Number(year), month, Number(day));
  return dayMs + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * SECOND_MS;
}

/** Returns NaN for 30 February and the like. */
function startOfDayMs(year: number, month: string, day: number): number {
  const firstMs = new Date(0).setUTCFullYear(year, MONTHS.indexOf(month), 1);
  const ms = firstMs + (day - 1) * DAY_MS;
  const isInMonth = day > 0 && new Date(ms).getUTCMonth() === new Date(firstMs).getUTCMonth();
  return isInMonth ? ms : Number.NaN;
}

function fullYear(twoDigits: number, nowMs: number): number {
  const now = new Date(nowMs).getUTCFullYear();
  const year = now - (now % 100) + twoDigits;
  if (year > now + YEARS_AHEAD) return year - 100;
  return year <= now + YEARS_AHEAD - 100 ? year + 100 : year;
}
