// How soon it is noticed that the clock was set back (store/config/clock/clock-jumps.ts).

import { MINUTE_MS, SECOND_MS } from '../limits.ts';

export const CLOCK_LIMITS = {
  /** How often the time is kept. */
  keptMs: MINUTE_MS,
  /** How far the clock may be behind the time that was kept: nodes know the database's clock within what the network takes. */
  toleranceMs: 5 * SECOND_MS,
  /** How often a server compares the clock with the time that it has seen. */
  lookMs: SECOND_MS,
} as const;
