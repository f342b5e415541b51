// Replaying many errors: what an operation of the kind `replay` was asked for, how many it may make now, what became of each
// error, and what follows from that. Pure.

import { LIMITS, SECOND_MS } from '../limits.ts';
import { isOver, type RunState } from '../run/run.ts';
import type { Replay } from './replay.ts';

/** Which errors are meant: those of a group, workflow or source, or the ones that are named. All that are given apply. */
export interface ErrorSelection {
  readonly groupId: string | null;
  /** A workflow or source. */
  readonly emitterId: string | null;
  readonly code: string | null;
  /** The name of the step that failed. */
  readonly step: string | null;
  /** The deployment that failed. */
  readonly deploymentId: string | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  /** Ascending, each once; null: not named. */
  readonly entries: readonly number[] | null;
}

/** What limits a selection to some of the errors of its group, workflow or source. */
export const EVERY = { code: null, step: null, deploymentId: null, sinceMs: null, untilMs: null } as const;

/** Returns the group of which all errors are meant; null: there is none. */
export function wholeGroupOf(selection: ErrorSelection): string | null {
  const limits = Object.keys(EVERY) as (keyof typeof EVERY)[];
  return limits.every((name) => selection[name] === null) ? selection.groupId : null;
}

/** The most failures after which an operation may be asked to pause: more than there are errors. */
export const MOST_FAILURES = 1_000_000_000;

/** What an operation was asked for. It does not change. */
export interface ReplayOrder {
  readonly selection: ErrorSelection;
  /** Null: the one that is active when the run begins. */
  readonly deploymentId: string | null;
  /** At most so many a second; null: as many as may be under way. */
  readonly rate: number | null;
  /** So many go first; the others wait until all of them have ended well. */
  readonly canary: number;
  /** After so many failures the operation pauses; null: it does not. */
  readonly stopOnFailures: number | null;
  /** Each goes on from the step that failed, with what the steps before it gave; else all steps run. */
  readonly isFromFailedStep: boolean;
  /** One at a time, in the order of the errors. */
  readonly isOrdered: boolean;
  /** Also errors of which there is a replay already that has ended. */
  readonly isAgain: boolean;
}

/** What became of an error that is over. */
export const ENDED_OUTCOMES = ['fixed', 'failed_same', 'failed_differently', 'cancelled', 'unknown'] as const;
export type EndedOutcome = (typeof ENDED_OUTCOMES)[number];
/** What became of an error that was not replayed. */
export const LEFT_OUTCOMES = ['not_replayed', 'replayed_before'] as const;
export const OUTCOMES = ['under_way', ...ENDED_OUTCOMES, ...LEFT_OUTCOMES] as const;
export type ReplayOutcome = (typeof OUTCOMES)[number];

/** How many errors of an operation have come to which outcome so far. */
export type OutcomeCounts = Readonly<Record<ReplayOutcome, number>>;

/** Where an operation stands. */
export interface Replaying {
  readonly order: ReplayOrder;
  readonly counts: OutcomeCounts;
  /** The first replays have ended well, or the owner has let the operation go on; also without such. */
  readonly isCanaryOver: boolean;
  /** The operation pauses when so many have failed; null: never. */
  readonly stopAt: number | null;
  /** By `rate`, the next one comes not before then. */
  readonly dueAtMs: number;
  /** No error is left that was not looked at. */
  readonly isThrough: boolean;
  /** An earlier replay of an error that was left had not fixed it. */
  readonly hasLeftUnfixed: boolean;
}

/**
 * Returns what an operation does with an error of which there is this replay. One that is under way is followed, also when
 * another operation made it: its event runs once, and its end is noted as that of an own replay.
 */
export function dealtWith(
  before: Pick<Replay, 'state'> | undefined,
  { isAgain }: Pick<ReplayOrder, 'isAgain'>,
): 'replay' | 'follow' | 'leave' {
  if (before === undefined) return 'replay';
  if (!isOver(before.state)) return 'follow';
  return isAgain ? 'replay' : 'leave';
}

/** Returns how many replays were made, or are followed. */
export function replayedIn(counts: OutcomeCounts): number {
  return ENDED_OUTCOMES.reduce((sum, outcome) => sum + counts[outcome], counts.under_way);
}

/** Returns how many errors are over: replayed, or left. */
export function overIn(counts: OutcomeCounts): number {
  return OUTCOMES.reduce((sum, outcome) => (outcome === 'under_way' ? sum : sum + counts[outcome]), 0);
}

function failuresIn({ failed_same: same, failed_differently: differently }: OutcomeCounts): number {
  return same + differently;
}

/** Returns the most replays of an operation that are under way at a time. */
export function mostUnderWay({ isOrdered }: Pick<ReplayOrder, 'isOrdered'>): number {
  return isOrdered ? 1 : LIMITS.replaysUnderWay;
}

/** How long a rate that was not used up may be caught up with: ticks are not on time. */
const CAUGHT_UP_MS = 100;

/** Returns how many replays may begin, whatever the rate. */
export function roomOf({ order, counts, isCanaryOver }: Replaying): number {
  const beside = mostUnderWay(order) - counts.under_way;
  return Math.max(0, isCanaryOver ? beside : Math.min(beside, order.canary - replayedIn(counts)));
}

/** When a queue is full, an operation waits so long; the shorter time after a step that found some room, which may soon be there again. */
const FULL_MS = SECOND_MS;
const FILLED_MS = 50;

/** Returns when an operation that found a queue full tries again, `made` replays having been made before. */
export function dueWhenFull(replaying: Replaying, made: number, nowMs: number): number {
  return Math.max(dueAfter(replaying, made, nowMs), nowMs + (made > 0 ? FILLED_MS : FULL_MS));
}

/** More than any step puts the next one off beside the pause of the rate. What is due later was due by a clock that was set back. */
export const MOST_AHEAD_MS = 2 * SECOND_MS;

/** Returns how many replays may begin now. */
export function pacedRoomOf(replaying: Replaying, nowMs: number): number {
  const { order } = replaying;
  const room = roomOf(replaying);
  const dueAtMs = dueBy(replaying, nowMs);
  if (nowMs < dueAtMs) return 0;
  if (order.rate === null) return room;
  return Math.min(room, 1 + Math.floor(((nowMs - Math.max(dueAtMs, nowMs - CAUGHT_UP_MS)) * order.rate) / SECOND_MS));
}

/** Returns when the next replay may be made; now, should the clock have been set back. */
function dueBy({ order: { rate }, dueAtMs }: Pick<Replaying, 'order' | 'dueAtMs'>, nowMs: number): number {
  const mostMs = MOST_AHEAD_MS + (rate === null ? 0 : SECOND_MS / rate);
  return dueAtMs > nowMs + mostMs ? nowMs : dueAtMs;
}

/** Returns when the next replay may be made, `made` replays having been made now. */
export function dueAfter(replaying: Replaying, made: number, nowMs: number): number {
  const { order } = replaying;
  const dueAtMs = dueBy(replaying, nowMs);
  if (order.rate === null || made === 0) return dueAtMs;
  return Math.max(dueAtMs, nowMs - CAUGHT_UP_MS) + Math.ceil((made * SECOND_MS) / order.rate);
}

/**
 * Returns what became of an error whose replay has this state. `group`: of the error; `failedGroup`: of the error that the
 * replay ended in. Undefined state: retention has deleted the run.
 */
export function outcomeOf(
  state: RunState | undefined,
  { group, failedGroup }: { readonly group: string | null; readonly failedGroup: string | null },
): EndedOutcome | null {
  if (state === undefined) return 'unknown';
  if (state === 'succeeded') return 'fixed';
  if (state === 'cancelled') return 'cancelled';
  if (state !== 'failed') return null;
  return group !== null && group === failedGroup ? 'failed_same' : 'failed_differently';
}

export function counted(
  counts: OutcomeCounts,
  ended: readonly ReplayOutcome[],
  from: 'under_way' | null,
): OutcomeCounts {
  const next = { ...counts };
  for (const outcome of ended) {
    next[outcome]++;
    if (from !== null) next[from]--;
  }
  return next;
}

export interface OperationProgress {
  readonly state: 'running' | 'paused' | 'done';
  readonly reason: string | null;
  readonly isCanaryOver: boolean;
  readonly stopAt: number | null;
}

/**
 * Returns what follows from the outcomes of an operation that runs. What is resumed goes on behind the canary, and until as
 * many have failed again.
 */
export function judged(replaying: Replaying): OperationProgress {
  const { order, counts, isCanaryOver, stopAt, isThrough } = replaying;
  const failed = failuresIn(counts);
  const next = { state: 'running', reason: null, isCanaryOver, stopAt } as const;
  if (isThrough && counts.under_way === 0) return { ...next, state: 'done' };
  if (stopAt !== null && failed >= stopAt) {
    const reason = `${failed} ${failed === 1 ? 'replay has' : 'replays have'} failed: resume the operation to go on, or cancel it.`;
    // A canary among them has failed: who resumes lets the others go on.
    return { state: 'paused', reason, isCanaryOver: true, stopAt: failed + (order.stopOnFailures ?? 1) };
  }
  if (isCanaryOver) return next;
  const bad = failed + counts.cancelled + counts.unknown;
  if (bad > 0) {
    const canary =
      order.canary === 1
        ? 'The first error, which goes ahead of the others,'
        : `Of the first ${order.canary} errors, which go ahead of the others, ${bad}`;
    const reason = `${canary} did not end well: resume the operation to go on, or cancel it.`;
    return { ...next, state: 'paused', reason, isCanaryOver: true };
  }
  return { ...next, isCanaryOver: counts.fixed >= order.canary };
}

/**
 * Returns whether an error is left unfixed when nothing is done about it but this replay. One that failed the same way counts by
 * the error that it ended in, which is one of the group, too. `isFixedSince`: that error was replayed until it was fixed.
 */
export function isLeftUnfixed(
  {
    state,
    failedGroup,
    isFixedSince,
  }: { readonly state: RunState; readonly failedGroup: string | null; readonly isFixedSince: boolean },
  group: string | null,
): boolean {
  const outcome = outcomeOf(state, { group, failedGroup });
  return outcome !== 'fixed' && outcome !== 'failed_same' && !isFixedSince;
}

/** Returns whether all errors of an operation that is done are fixed, by their newest replays. */
export function isAllFixed({ counts, hasLeftUnfixed }: Pick<Replaying, 'counts' | 'hasLeftUnfixed'>): boolean {
  const others = OUTCOMES.filter((one) => one !== 'fixed' && one !== 'replayed_before');
  if (hasLeftUnfixed || others.some((one) => counts[one] > 0)) return false;
  return counts.fixed + counts.replayed_before > 0;
}
