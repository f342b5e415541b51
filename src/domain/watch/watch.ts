// What is expected to happen in time, and when it is late. Watches of a workflow (it has not run, has not succeeded, or fails
// too often) and heartbeats (jobs that run elsewhere) are judged alike: each is a row with the time at which it is looked at
// next, and a decision replaces the row that it was made of, together with the error that it leads to. So there is one error for
// each silence, whichever node looks, and after a restart.
//
// The end of a run only notes that it was: `lastAtMs`. A watch that is well is looked at when its time would be over, and then
// put off by what was noted meanwhile. One that has told of an error is looked at soon after the next note.

import type { ErrorRatio, Schedule, WatchSettings } from '../resource.ts';

export const WATCH_KINDS = ['silence', 'success', 'ratio', 'heartbeat'] as const;
export type WatchKind = (typeof WATCH_KINDS)[number];

/** Codes of errors that watches tell of. */
export const SILENT = 'Silent';
export const UNHEALTHY = 'Unhealthy';
export const HEARTBEAT_FAILED = 'HeartbeatFailed';

/** What a watch is judged by. */
export type WatchRule =
  | { readonly limitMs: number }
  | { readonly errorRatio: ErrorRatio }
  | { readonly schedule: Schedule; readonly graceMs: number };

/** An error that was told of and is not over. */
export interface OpenError {
  readonly code: string;
  readonly sinceMs: number;
}

/** Of heartbeats. */
export interface PingCounts {
  readonly pings: number;
  readonly failures: number;
  /** When the run began that has not ended; null: none has. */
  readonly startedAtMs: number | null;
  /** How long the last run took that said when it began. */
  readonly durationMs: number | null;
}

export const NO_PINGS: PingCounts = { pings: 0, failures: 0, startedAtMs: null, durationMs: null };

export interface Watch {
  readonly ownerId: string;
  /** `p_…` or `hb_…`; with `kind`, the key. */
  readonly id: string;
  readonly kind: WatchKind;
  /** Grows with each decision and change: a decision counts only for the version that it was made of. */
  readonly version: number;
  /** Grows with each note of a run that ended; see `holdsWhateverIsHeard`. */
  readonly heard: number;
  readonly rule: WatchRule;
  /** Since when it is watched. */
  readonly watchedAtMs: number;
  /** When what it waits for happened last; null: never. */
  readonly lastAtMs: number | null;
  /** Since then, the time in which no server was there to hear anything. */
  readonly excusedMs: number;
  /** Heartbeats: when the next ping is expected, without the grace; null: not before the first one. */
  readonly expectedAtMs: number | null;
  /** When it is looked at next; null: when something is noted. */
  readonly dueAtMs: number | null;
  readonly open: readonly OpenError[];
  readonly counts: PingCounts;
}

/** A watch with what errors say about it. */
export interface NamedWatch extends Watch {
  readonly name: string;
  /** Of a workflow. */
  readonly deploymentId: string | null;
}

/** What a decision tells. `startedAtMs`: when the run began whose end is missed; the next state does not have it any more. */
export type WatchFinding =
  | { readonly kind: 'error'; readonly code: string; readonly why: Why; readonly startedAtMs?: number }
  | { readonly kind: 'recovered'; readonly code: string; readonly sinceMs: number; readonly why: Why };

/** Why an error was told: one message, and one group of errors, for each. */
export type Why = 'not_run' | 'not_succeeded' | 'ratio' | 'no_ping' | 'not_ended' | 'reported';

export interface WatchJudgement {
  readonly next: Watch;
  readonly told: readonly WatchFinding[];
}

/**
 * Returns whether a decision holds although runs ended since its watch was read. What silence is told of does not: one of them
 * was the run. All else does, or a workflow whose runs end without pause would never be decided about.
 */
export function holdsWhateverIsHeard({ kind, open }: Watch): boolean {
  return kind === 'ratio' || (kind !== 'heartbeat' && open.length === 0);
}

export function watchesOf(settings: WatchSettings | null): readonly { kind: WatchKind; rule: WatchRule }[] {
  if (settings === null) return [];
  const { silentAfterMs, succeededWithinMs, errorRatio } = settings;
  return [
    ...(silentAfterMs === null ? [] : [{ kind: 'silence' as const, rule: { limitMs: silentAfterMs } }]),
    ...(succeededWithinMs === null ? [] : [{ kind: 'success' as const, rule: { limitMs: succeededWithinMs } }]),
    ...(errorRatio === null ? [] : [{ kind: 'ratio' as const, rule: { errorRatio } }]),
  ];
}

/** Counts of a ratio's window are kept in so many parts; what is older than the window is forgotten a part at a time. */
const WINDOW_PARTS = 60;

/** Returns the part that a time belongs to. */
export function partOf({ windowMs }: ErrorRatio, ms: number): number {
  return Math.floor((ms * WINDOW_PARTS) / windowMs);
}

/** Returns the oldest part of the window that ends now. */
export function firstPart(ratio: ErrorRatio, nowMs: number): number {
  return partOf(ratio, nowMs) - WINDOW_PARTS + 1;
}

/** Runs that ended within a window. */
export interface Ended {
  readonly succeeded: number;
  readonly failed: number;
}

/** Judges a watch of a workflow. `ended`: for a ratio. */
export function judged(
  watch: Watch,
  { nowMs, ended }: { readonly nowMs: number; readonly ended: Ended },
): WatchJudgement {
  const { rule } = watch;
  if ('errorRatio' in rule) return judgedRatio(watch, rule.errorRatio, { nowMs, ended });
  if ('limitMs' in rule) return judgedTime(watch, rule.limitMs, nowMs);
  throw new Error(`${watch.id} is a heartbeat`);
}

function judgedTime(watch: Watch, limitMs: number, nowMs: number): WatchJudgement {
  const heardAtMs = Math.min(watch.lastAtMs ?? watch.watchedAtMs, nowMs);
  const overAtMs = heardAtMs + watch.excusedMs + limitMs;
  const why = watch.kind === 'silence' ? 'not_run' : 'not_succeeded';
  if (nowMs < overAtMs) return well(watch, { dueAtMs: overAtMs, why });
  return bad(watch, { code: SILENT, why, sinceMs: overAtMs, dueAtMs: null });
}

function judgedRatio(
  watch: Watch,
  ratio: ErrorRatio,
  { nowMs, ended }: { readonly nowMs: number; readonly ended: Ended },
): WatchJudgement {
  const { succeeded, failed } = ended;
  const all = succeeded + failed;
  const isOver = all > 0 && failed / all > ratio.over;
  // Old parts are dropped once in a window; while it is bad, each part that leaves the window may end it.
  const partMs = Math.ceil(ratio.windowMs / WINDOW_PARTS);
  if (isOver && all >= ratio.ofAtLeast)
    return bad(watch, { code: UNHEALTHY, why: 'ratio', sinceMs: nowMs, dueAtMs: nowMs + partMs });
  // Without a run that succeeded, nothing says that it is well again.
  const isWell = watch.open.length === 0 || (succeeded > 0 && !isOver);
  if (isWell) return well(watch, { dueAtMs: nowMs + ratio.windowMs, why: 'ratio' });
  return { next: { ...watch, dueAtMs: nowMs + partMs }, told: [] };
}

function well(watch: Watch, { dueAtMs, why }: { dueAtMs: number; why: Why }): WatchJudgement {
  const told = watch.open.map((open) => ({ kind: 'recovered' as const, ...open, why }));
  return { next: { ...watch, open: [], dueAtMs }, told };
}

function bad(watch: Watch, is: { code: string; why: Why; sinceMs: number; dueAtMs: number | null }): WatchJudgement {
  const { code, why, sinceMs, dueAtMs } = is;
  if (watch.open.length > 0) return { next: { ...watch, dueAtMs }, told: [] };
  return { next: { ...watch, open: [{ code, sinceMs }], dueAtMs }, told: [{ kind: 'error', code, why }] };
}
