// How long the errors of a workflow are kept beyond what is kept of everything.

import { NUMBERS_PER_MS } from '../ids.ts';
import { DAY_MS } from '../limits.ts';

/** A setting of a workflow: an error stays as long as either says so, or the server's own retention. */
export interface ErrorRetention {
  /** So many days; null: as many as the server keeps everything. */
  readonly days: number | null;
  /** The newest, however old they are; null: LIMITS.listedPerEmitterAndName. */
  readonly newest: number | null;
}

export const ERROR_RETENTION_LIMITS = {
  days: 3650,
  /** Each step of retention walks so far along an index. */
  newest: 100_000,
} as const;

/** Returns the first entry that is kept for its age. `before`: the first one that the server keeps. */
export function keptForDays({ days }: Pick<ErrorRetention, 'days'>, of: { before: number; nowMs: number }): number {
  return days === null ? of.before : Math.min(of.before, (of.nowMs - days * DAY_MS) * NUMBERS_PER_MS);
}
