// The bounds of what is compared between failures and successes (errors/differences.ts).

import { KIB } from '../limits.ts';

export const COMPARED = {
  failures: 500,
  successes: 1000,
  /** Of each time, before the last error and after it, so many runs are read to find those. */
  runs: 3000,
  /** Of the events of each kind of run. */
  bytes: 8192 * KIB,
  /** Of an event, and of all events of one kind of run. */
  paths: 500,
  depth: 8,
  /** Of an array those that come first. */
  elements: 50,
  /** Of one field: a field with more has no values of its own, but types. */
  values: 50,
  valueChars: 64,
  shown: 20,
  /** Of a step's code on each side, from the first to the last that differs. */
  lines: 1000,
  /** So many steps with as many lines on each side, 10 ms each; of further ones it is only told that they differ. */
  steps: 4,
} as const;
