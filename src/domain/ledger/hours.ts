// What was accepted over time. The ledger's figures only grow, so their differences between two moments are what came in between:
// they stay exact when retention deletes the rows that were counted.

import { DAY_MS, HOUR_MS } from '../limits.ts';

/** How long the figures by hour are kept. */
export const HOURS_KEPT_MS = 90 * DAY_MS;
/** Answered at once: 31 days of hours. */
export const MAX_BUCKETS = 744;

export const FIGURES = ['events', 'runs', 'errors', 'deliveries'] as const;

export type Figure = (typeof FIGURES)[number];

/** How many there ever were, or came within a time. */
export type Figures = Readonly<Record<Figure, number>>;

/** The figures of the ledger as they were last noted within an hour. */
export interface NotedHour extends Figures {
  /** Hours since 1970. */
  readonly hour: number;
}

export interface Bucket extends Figures {
  readonly fromMs: number;
}

export interface Stretch {
  /** The first hour, and the one behind the last. */
  readonly fromHour: number;
  readonly toHour: number;
  /** Of each bucket. The stretch is a multiple of it. */
  readonly hours: number;
}

const NO_FIGURES: Figures = { events: 0, runs: 0, errors: 0, deliveries: 0 };

type Counts = Readonly<Record<string, number>>;

interface Ledger {
  readonly emissions: number;
  readonly runs: Counts;
  readonly deliveries: Counts;
  readonly errors: number;
}

/** Returns how many of each there ever were, in whatever state they are. */
export function figuresOf({ emissions, runs, errors, deliveries }: Ledger): Figures {
  const sum = (counts: Counts): number => Object.values(counts).reduce((all, n) => all + n, 0);
  return { events: emissions, runs: sum(runs), errors, deliveries: sum(deliveries) };
}

/** A time in milliseconds since 1970, and how long notes are kept. */
interface Asked {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly nowMs: number;
  readonly keptMs: number;
}

/** Returns the whole buckets that have a part of the time, without those of which notes were deleted. */
export function stretchOf({ sinceMs, untilMs, nowMs, keptMs }: Asked, hours: number): Stretch {
  const bucketMs = hours * HOUR_MS;
  const first = Math.max(Math.floor(sinceMs / bucketMs), Math.ceil((nowMs - keptMs) / bucketMs));
  const end = Math.max(first, Math.ceil(untilMs / bucketMs));
  return { fromHour: first * hours, toHour: end * hours, hours };
}

/**
 * Returns what came in each bucket, oldest first. `noted`: the hours of the stretch that something came in, ordered, and before
 * them the last one before the stretch; none: there was nothing before. A figure that is lower than an earlier one, since a
 * clock was set back or a counter corrected, is passed over: nothing is counted twice, and no bucket is below zero.
 */
export function bucketsOf(noted: readonly NotedHour[], { fromHour, toHour, hours }: Stretch): Bucket[] {
  const counts = Array.from(
    { length: (toHour - fromHour) / hours },
    () => ({ ...NO_FIGURES }) as Record<Figure, number>,
  );
  const reached: Record<Figure, number> = { ...NO_FIGURES };
  for (const one of noted) {
    const count = counts[Math.floor((one.hour - fromHour) / hours)];
    for (const figure of FIGURES) {
      const more = Math.max(0, one[figure] - reached[figure]);
      reached[figure] += more;
      if (count && one.hour >= fromHour) count[figure] += more;
    }
  }
  return counts.map((count, n) => ({ fromMs: (fromHour + n * hours) * HOUR_MS, ...count }));
}
