// Lengths of time up to now that a list can be limited to.

import { everyOf } from '../api/states.ts';

export type Period = 'hour' | 'day' | 'week' | 'month';

export const PERIODS = everyOf<Period>()(['hour', 'day', 'week', 'month']);

const HOURS: Readonly<Record<Period, number>> = { hour: 1, day: 24, week: 7 * 24, month: 30 * 24 };
const HOUR_MS = 3_600_000;

/** Returns when the period that ends now began, as ISO 8601. */
export function beginOf(period: Period): string {
  return new Date(Date.now() - HOURS[period] * HOUR_MS).toISOString();
}
