// Retry-After (RFC 9110, 10.2.3): a number of seconds, or a date in one of the three forms that HTTP ever had. Whatever is
// neither, or asks for no wait at all, is as if it were not there, and the ordinary schedule goes on: a receiver that
// cannot say what it wants gets what everybody gets.

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

export interface Answer {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * How long a receiver asked to be left alone, counted from `nowMs`: whole milliseconds, rounded up so that no request comes
 * early, at most LIMITS.retryAfterMs. Null: it did not ask, or in a way that means nothing.
 */
export function retryAfterMs({ status, headers }: Answer, nowMs: number): number | null {
  const given = headers['retry-after'];
  // Sent twice it says two things, even when they are the same: who wrote it did not mean either.
  if (!STATUSES.has(status) || typeof given !== 'string') return null;
  // The parser leaves white space behind a value, which is no part of it (RFC 9110, 5.5).
  const value = given.replace(/^[ \t]+|[ \t]+$/g, '');
  const waitMs = /^\d+$/.test(value) ? secondsAsMs(value) : dateMs(value, nowMs) - nowMs;
  return waitMs > 0 ? Math.min(Math.ceil(waitMs), LIMITS.retryAfterMs) : null;
}

/** NaN for a number that cannot have been meant. */
function secondsAsMs(digits: string): number {
  const seconds = Number(digits);
  return Number.isSafeInteger(seconds) ? seconds * SECOND_MS : Number.NaN;
}

/** NaN for what is no date. */
function dateMs(text: string, nowMs: number): number {
  const parts = DATES.map((form) => form.exec(text)).find((match) => match !== null)?.groups;
  if (!parts) return Number.NaN;
  const { year = '', month = '', day = '', hour, minute, second } = parts;
  const dayMs = startOfDayMs(year.length === 2 ? fullYear(Number(year), nowMs) : Number(year), month, Number(day));
  return dayMs + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * SECOND_MS;
}

/** NaN for 30 February and the like. */
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
