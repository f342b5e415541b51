// Replays of many errors, for an operation: its cursor moves in the transaction that makes them. So each error is passed once,
// whatever becomes of processes, and of several processes with the same errors one succeeds. Of several operations that come to
// the same error one replays it, and the others follow that replay until it ends.

import { whyNotAgain, whyNothingRuns } from '../../../domain/errors/replay.ts';
import {
  counted,
  dealtWith,
  dueAfter,
  dueWhenFull,
  isLeftUnfixed,
  pacedRoomOf,
  type Replaying,
  type ReplayOutcome,
  roomOf,
} from '../../../domain/errors/replaying.ts';
import { checkpointFrom } from '../../../domain/run/checkpoint.ts';
import { FOR_UPDATE, isAmong, sql, tableOf } from '../../config/sql.ts';
import { all, type Steps, send } from '../../config/steps.ts';
import type { ReplayChoice, ReplayStep } from '../../contract/operations.ts';
import type { LogStore } from '../../contract/store.ts';
import { number, text } from '../../rows/cells.ts';
import { toReplaying } from '../../rows/operation-rows.ts';
import type { Row } from '../../rows/rows.ts';
import type { LockedReplay, LogWriter, ReplaysMade } from '../port.ts';
import { writeEmission } from '../write-emission.ts';
import { followFailures, type LastReplay, lockLastReplays, type OfRun } from './last-replays.ts';

/** Implements LogStore.replayErrors. */
export function replayErrors(log: LogWriter, step: ReplayStep): Awaited<ReturnType<LogStore['replayErrors']>> {
  const operation = log.takeReplay(step);
  if (operation?.ownerId !== step.ownerId || operation.after !== step.after) return { made: 0, claims: log.claims };
  const { replaying, lastReplays, ...locked } = operation;
  const room = pacedRoomOf(replaying, log.nowMs);
  const results: ReplaysMade['results'][number][] = [];
  let [begun, made] = [0, 0];
  let { hasLeftUnfixed } = replaying;
  let stop: 'room' | 'full' | null = null;
  for (const choice of step.choices) {
    const before = lastReplays.get(choice.entry);
    const result = resultOf(log, choice, { step, replaying, before, mayBegin: begun < room });
    if (typeof result === 'string') {
      stop = result;
      break;
    }
    results.push(result);
    if (before && result.outcome === 'replayed_before') hasLeftUnfixed ||= isLeftUnfixed(before, result.groupId);
    if (result.outcome !== 'under_way') continue;
    begun++;
    if (result.reason === null) made++;
  }
  const outcomes = results.map(({ outcome }): ReplayOutcome => outcome);
  const counts = counted(replaying.counts, outcomes, null);
  const dueAtMs = (stop === 'full' ? dueWhenFull : dueAfter)(replaying, made, log.nowMs);
  const isThrough = step.isLast && stop === null;
  // What was looked at and not meant is behind the cursor, too.
  const reached = stop === null ? step.through : (results.at(-1)?.entry ?? operation.after);
  log.writeReplays({
    ...locked,
    after: reached,
    replaying: { ...replaying, counts, dueAtMs, isThrough, hasLeftUnfixed },
    results,
    turn: log.nextNumber(),
    nowMs: log.nowMs,
  });
  return { made, claims: log.claims };
}

interface Deciding {
  readonly step: ReplayStep;
  readonly replaying: Replaying;
  readonly before: LastReplay | undefined;
  readonly mayBegin: boolean;
}

function resultOf(
  log: LogWriter,
  choice: ReplayChoice,
  { step: { ownerId }, replaying, before, mayBegin }: Deciding,
): ReplaysMade['results'][number] | 'room' | 'full' {
  const { entry, emitterId } = choice;
  const none = { entry, emitterId, groupId: null, run: null, errorEntry: null };
  if ('reason' in choice) return { ...none, outcome: 'not_replayed', reason: choice.reason };
  const { groupId } = choice;
  const dealt = dealtWith(before, replaying.order);
  if (before && dealt !== 'replay') {
    const outcome = dealt === 'leave' ? 'replayed_before' : 'under_way';
    if (outcome === 'under_way' && !mayBegin) return 'room';
    return { ...none, groupId, run: before.run, outcome, reason: whyNotAgain(before) };
  }
  // It was left when it was read, and retention has deleted its replay since: the next step reads its event.
  if ('causeRun' in choice) return 'room';
  const { emission } = choice;
  const runnable = log.runnable(ownerId, emission.onlyListenerId ?? '');
  if (!runnable) return { ...none, groupId, outcome: 'not_replayed', reason: whyNothingRuns(emitterId) };
  if (!mayBegin) return 'room';
  // A run without room in its queue would fail, and the replay with it.
  if (log.runQueue(ownerId, runnable.id).waiting >= runnable.settings.queueLimit) return 'full';
  const { goesOn } = choice;
  const deploymentId = goesOn?.deploymentId ?? replaying.order.deploymentId;
  // A run with a checkpoint keeps its deployment until it begins: this one is empty.
  const pinned = deploymentId === null ? {} : { deploymentId, continuation: goesOn ?? PINNED };
  const { firstRun } = writeEmission(log, emission, pinned);
  return { ...none, groupId, run: firstRun, outcome: 'under_way', reason: null };
}

const PINNED = { checkpoint: checkpointFrom([]), attempt: 1 };

/** Locks and reads operations that run, and then the errors of their steps. */
export function* lockReplays(steps: readonly ReplayStep[]): Steps<readonly LockedReplay[]> {
  const ids = steps.map(({ operationId }) => operationId);
  const rows =
    yield* all(sql`SELECT * FROM operations WHERE id ${isAmong(ids)} AND kind = 'replay' AND state = 'running'
    AND is_counted AND NOT is_through ORDER BY id ${FOR_UPDATE}`);
  const locked: LockedReplay[] = [];
  for (const row of rows) {
    const operation = toLocked(row);
    const errors = errorsOf(steps.filter(({ operationId }) => operationId === operation.id));
    const { ownerId } = operation;
    const lastReplays = yield* followFailures(ownerId, yield* lockLastReplays(ownerId, errors));
    locked.push({ ...operation, lastReplays });
  }
  return locked;
}

/** Returns the errors that steps may replay. */
export function errorsOf(steps: readonly ReplayStep[]): readonly OfRun[] {
  return steps
    .flatMap(({ choices }) => choices)
    .flatMap((choice) => {
      if ('causeRun' in choice) return { entry: choice.entry, causeRun: choice.causeRun };
      const causeRun = 'emission' in choice ? choice.emission.causeRun : null;
      return causeRun === null ? [] : { entry: choice.entry, causeRun };
    });
}

function toLocked(row: Row): Omit<LockedReplay, 'lastReplays'> {
  return {
    id: text(row, 'id'),
    ownerId: text(row, 'owner_id'),
    after: number(row, 'after_number'),
    lastEntry: number(row, 'last_entry'),
    replaying: toReplaying(row),
  };
}

const RESULT = {
  operation_id: 'text',
  entry: 'bigint',
  emitter_id: 'text',
  group_id: 'text',
  run: 'bigint',
  outcome: 'text',
  reason: 'text',
} as const;

/** Writes what steps have made. Operations are locked. */
export function* writeReplays(steps: readonly ReplaysMade[]): Steps<void> {
  const rows = steps.flatMap(({ id, results }) =>
    results.map((one) => ({
      operation_id: id,
      entry: one.entry,
      emitter_id: one.emitterId,
      group_id: one.groupId,
      run: one.run,
      outcome: one.outcome,
      reason: one.reason,
    })),
  );
  if (rows.length > 0) {
    yield* send(sql`INSERT INTO operation_results (operation_id, entry, emitter_id, group_id, run, outcome, reason)
      SELECT operation_id, entry, emitter_id, group_id, run, outcome, reason FROM ${tableOf(RESULT, rows)} WHERE true`);
  }
  for (const { id, after, replaying, turn, nowMs } of steps) {
    const { counts, dueAtMs, isThrough, hasLeftUnfixed } = replaying;
    yield* send(sql`UPDATE operations SET after_number = ${after}, is_through = ${isThrough}, due_at_ms = ${dueAtMs},
        room = ${roomOf(replaying)}, under_way = ${counts.under_way}, not_replayed = ${counts.not_replayed},
        replayed_before = ${counts.replayed_before}, has_left_unfixed = ${hasLeftUnfixed}, turn = ${turn},
        updated_at_ms = ${nowMs}
      WHERE id ${isAmong([id])}`);
  }
}
