// The end of a run, or of one of its segments: the run is over, waits, or is queued again.

import { ERRORS } from '../../domain/emission.ts';
import type { RunLease } from '../../domain/run/run.ts';
import { type RunEnd, withSuppressed } from '../../domain/run/run-end.ts';
import { endOf, startBefore } from '../../domain/run/run-times.ts';
import { orderFor } from '../../domain/run/wait.ts';
import { FURTHER_ERRORS } from '../check/checks.ts';
import type { Finished, FreeSlots } from '../contract/store.ts';
import { emitOrKeep } from './later-emissions.ts';
import type { LeasedRun, LogWriter, RunQueue } from './port.ts';
import { HANDED_OVER } from './round-robin.ts';
import { applyMemory } from './source-memory.ts';
import { noteRun } from './watch/notes.ts';

/** Offers no slots: for verbs that only release. */
export const NO_SLOTS: FreeSlots = {
  takeRun: () => false,
  dropRun: () => undefined,
  takeDelivery: () => false,
  dropDelivery: () => undefined,
};

export function finishRun(log: LogWriter, end: RunEnd): Finished {
  const run = log.leasedRun(end.lease);
  if (!run) return { held: false, claims: log.claims, errorEntry: null };
  if (end.state === 'queued') {
    const isCancelled = queueAgain(log, run, end.again === 'alone') === 'cancelled';
    return { held: true, isCancelled, claims: log.claims, errorEntry: null };
  }
  if (end.state === 'waiting') return suspend(log, run, end);
  const queue = log.runQueue(run.ownerId, run.runnableId);
  queue.moved('running', end.state);
  const { entries, suppressed } = takeEffect(log, run, end);
  if (end.state !== 'cancelled') noteRun(log, run, end.state);
  const { fault } = end;
  const errorEntry = fault === null ? null : (entries.at(-1) ?? null);
  run.end({
    state: end.state,
    attempt: run.attempt,
    endedAtMs: endOf(run.startedAtMs, end.endedAtMs),
    error: fault && { entry: errorEntry, code: fault.code },
    reported: suppressed === 0 ? end : { summary: end.summary, detail: withSuppressed(end, suppressed) },
  });
  handOver(log, queue, run);
  return { held: true, claims: log.claims, errorEntry };
}

function takeEffect(log: LogWriter, run: LeasedRun, end: RunEnd): { entries: readonly number[]; suppressed: number } {
  const { memory, answer } = end;
  const { emissions, suppressed } = memory
    ? applyMemory(log, memory, end.emissions)
    : { emissions: end.emissions, suppressed: 0 };
  const entries = emitOrKeep(log, emissions);
  if (answer) run.keepAnswer(answer);
  return { entries, suppressed };
}

/**
 * Writes what the run has emitted so far, and begins its wait. If an order for this wait came early, the run is queued or
 * cancelled at once.
 */
function suspend(log: LogWriter, run: LeasedRun, end: RunEnd): Finished {
  const { wait } = end;
  if (!wait) throw new Error(`run ${run.run} is to wait, and its end does not say for what`);
  const early = orderFor(wait, run.early);
  // Its workflow may have been deleted meanwhile.
  const isOver = run.isStopped || early?.order === 'cancel' || !log.runnable(run.ownerId, run.runnableId);
  const state = isOver ? 'cancelled' : early ? 'queued' : 'waiting';
  // The attempt that has failed counts, also when it is not tried again.
  const attempt = wait.kind === 'retry' ? run.attempt + 1 : run.attempt;
  const queue = log.runQueue(run.ownerId, run.runnableId);
  queue.moved('running', state);
  const { entries } = takeEffect(log, run, end);
  noteRun(log, run, 'ran');
  const errors = end.emissions.filter(({ name }) => name === ERRORS).length;
  if (errors > 0) log.count(run.ownerId, FURTHER_ERRORS, errors);
  if (state === 'cancelled') {
    run.end({ state, attempt, endedAtMs: endOf(run.startedAtMs, end.endedAtMs), error: null, reported: end });
  } else {
    run.beginWait({ state, attempt, wait, resumed: early?.request ?? null, reported: end });
  }
  handOver(log, queue, run);
  if (state === 'queued' && queue.waiting > 0) announce(log);
  const errorEntry = end.emissions.at(-1)?.name === ERRORS ? (entries.at(-1) ?? null) : null;
  return { held: true, isCancelled: state === 'cancelled', claims: log.claims, errorEntry };
}

/**
 * Queues a run again. `isAlone`: a run of an unattributed crash. Its attempt counts, and the next one has a process to itself.
 */
function queueAgain(log: LogWriter, run: LeasedRun, isAlone: boolean): 'queued' | 'cancelled' {
  // Its workflow may have been deleted meanwhile, or its owner has cancelled it.
  if (run.isStopped || !log.runnable(run.ownerId, run.runnableId)) {
    cancelUnfinished(log, run);
    return 'cancelled';
  }
  const attempt = isAlone ? run.attempt + 1 : run.attempt;
  log.runQueue(run.ownerId, run.runnableId).moved('running', 'queued');
  run.queueAgain({ attempt, startedAtMs: startBefore(run), isAlone, isRescued: false });
  announce(log);
  return 'queued';
}

/** Cancels a run whose last segment has no result. */
export function cancelUnfinished(log: LogWriter, run: LeasedRun): void {
  log.runQueue(run.ownerId, run.runnableId).moved('running', 'cancelled');
  const { attempt, startedAtMs } = run;
  const endedAtMs = endOf(startedAtMs, log.nowMs);
  run.end({ state: 'cancelled', attempt, endedAtMs, error: null, reported: null });
}

/** Wakes the claims of runs, here and in other processes. */
export function announce(log: LogWriter): void {
  log.claims.runsWaiting = true;
  log.wakeOthers('runs');
}

/** Queues runs again without counting the attempt; expired leases are skipped. */
export function releaseRuns(log: LogWriter, leases: readonly RunLease[]): void {
  for (const lease of leases) {
    const run = log.leasedRun(lease);
    if (run) queueAgain(log, run, false);
  }
}

/** Claims with the slots that a run's end has freed the next runs of the same workflow or source, without a tick. */
function handOver(log: LogWriter, queue: RunQueue, { ownerId, runnableId }: LeasedRun): void {
  if (queue.waiting === 0) return;
  const runnable = log.runnable(ownerId, runnableId);
  if (!runnable) return;
  for (let taken = 0; taken < HANDED_OVER && queue.waiting > 0; taken++) {
    if (queue.room(runnable) <= 0) {
      // The next claim returns when its throttle has room.
      log.claims.runsWaiting = true;
      return;
    }
    if (!queue.hasSlot(runnable, false) || !log.takeRun(runnable)) return;
    queue.claimOldest(runnable);
  }
}
