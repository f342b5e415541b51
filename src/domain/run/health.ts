// The health of a workflow: what its newest runs tell.

import { msOf } from '../ids.ts';
import type { RunState } from './run.ts';

export const HEALTH = {
  /** Runs that are judged: the newest that succeeded or failed. */
  runs: 100,
  /** How many of the newest that are over are looked at for those: the others were cancelled. */
  lookedAt: 500,
} as const;

export interface Health {
  /** Whatever its state. */
  readonly lastRun: { readonly run: number; readonly state: RunState } | null;
  /** How many runs the rest is about, and when the first of them was created. */
  readonly runs: number;
  readonly sinceMs: number | null;
  readonly failed: number;
  /** From the start to the end of a run, waits included: 95 of 100 took no longer. */
  readonly p95Ms: number | null;
}

export interface JudgedRun {
  readonly run: number;
  readonly hasFailed: boolean;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number;
}

const NEAREST_RANK = 0.95;

export function healthOf(lastRun: Health['lastRun'], judged: readonly JudgedRun[]): Health {
  const took = judged
    .flatMap(({ startedAtMs, endedAtMs }) => (startedAtMs === null ? [] : [endedAtMs - startedAtMs]))
    .sort((a, b) => a - b);
  const first = judged.reduce((least, { run }) => Math.min(least, run), Number.POSITIVE_INFINITY);
  return {
    lastRun,
    runs: judged.length,
    sinceMs: judged.length === 0 ? null : msOf(first),
    failed: judged.filter(({ hasFailed }) => hasFailed).length,
    p95Ms: took[Math.ceil(took.length * NEAREST_RANK) - 1] ?? null,
  };
}
