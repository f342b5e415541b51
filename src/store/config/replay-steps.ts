// The steps of operations that replay errors, beside the replays themselves (log/replays/replay-errors.ts): counting, and noting how
// replays have ended. The operation's row is locked.

import {
  counted,
  type EndedOutcome,
  isAllFixed,
  judged,
  outcomeOf,
  overIn,
  type Replaying,
  type ReplayOutcome,
  roomOf,
  wholeGroupOf,
} from '../../domain/errors/replaying.ts';
import type { RunState } from '../../domain/run/run.ts';
import { setResolved } from '../log/groups/error-groups.ts';
import { ALL_RUNS, OPEN_RUNS } from '../log/log-tables.ts';
import { resolveFixedGroups } from '../log/replays/fixed-groups.ts';
import { atOnce, selectedErrors, toSelected } from '../log/replays/replay-records.ts';
import { flag, number, numberOrNull, text, textOrNull } from '../rows/cells.ts';
import { toReplaying } from '../rows/operation-rows.ts';
import type { Row } from '../rows/rows.ts';
import { OPEN_RUN } from '../rows/run-rows.ts';
import type { Writing } from './config-database.ts';
import { differs, isAmongNumbers, raw, sql, tableOf } from './sql.ts';
import { all, type Steps, send } from './steps.ts';

/** `operation_results AS r`. SQLite would look through all results of the operation. */
const RESULTS_UNDER_WAY = differs({
  sqlite: 'operation_results AS r INDEXED BY operation_results_open',
  postgres: 'operation_results AS r',
});

/** A condition on `operations AS o` of the kind `replay`: a step can be made. */
export const REPLAY_HAS_STEP = sql`(o.state = 'running' AND (NOT o.is_counted OR (o.is_through AND o.under_way = 0))
  OR o.under_way > 0 AND EXISTS (SELECT 1 FROM ${RESULTS_UNDER_WAY}
    WHERE r.operation_id = o.id AND r.outcome = 'under_way'
      AND NOT EXISTS (SELECT 1 FROM ${OPEN_RUNS} AS open WHERE open.run = r.run AND ${raw(OPEN_RUN)})))`;

/** Makes one step. Returns whether it has resolved a group, of which is to be told. */
export function* stepReplay(w: Writing, row: Row): Steps<boolean> {
  if (text(row, 'state') !== 'running' || flag(row, 'is_counted')) return yield* settleStep(w, row);
  yield* countStep(w, row);
  return false;
}

function* countStep(w: Writing, row: Row): Steps<void> {
  const replaying = toReplaying(row);
  const { selection } = replaying.order;
  const [after, lastEntry] = [number(row, 'after_number'), number(row, 'last_entry')];
  const range = { ownerId: text(row, 'owner_id'), selection, after, lastEntry, limit: atOnce(selection) };
  const errors = toSelected(yield* all(selectedErrors(range)), range);
  const isCounted = errors.length < range.limit;
  const matched = errors.filter(({ isMeant }) => isMeant).length;
  const next = isCounted ? -1 : (errors.at(-1)?.entry ?? after);
  yield* send(sql`UPDATE operations SET total = total + ${matched}, is_counted = ${isCounted}, after_number = ${next},
      room = ${roomOf(replaying)}, updated_at_ms = ${w.nowMs}, turn = ${w.nextTurn()} WHERE id = ${text(row, 'id')}`);
}

interface Ended {
  readonly entry: number;
  readonly outcome: EndedOutcome;
  readonly errorEntry: number | null;
}

/** Notes the ends of replays, and what follows from them. */
function* settleStep(w: Writing, row: Row): Steps<boolean> {
  const id = text(row, 'id');
  const ended = yield* readEnded(id);
  if (ended.length > 0) {
    const rows = ended.map(({ entry, outcome, errorEntry }) => ({ entry, outcome, error_entry: errorEntry }));
    const given = tableOf({ entry: 'bigint', outcome: 'text', error_entry: 'bigint' }, rows);
    // With the list, SQLite looks the rows up. Without, it reads all results of the operation, and the table for each: 2.5 s of 9,000.
    yield* send(sql`UPDATE operation_results SET outcome = given.outcome, error_entry = given.error_entry FROM ${given}
      WHERE operation_id = ${id} AND operation_results.entry ${isAmongNumbers(ended.map(({ entry }) => entry))}
        AND operation_results.entry = given.entry`);
  }
  const before = toReplaying(row);
  const outcomes = ended.map(({ outcome }): ReplayOutcome => outcome);
  const settled: Replaying = { ...before, counts: counted(before.counts, outcomes, 'under_way') };
  const following = nextOf(row, settled);
  const { replaying, next } =
    following.state === 'done' ? withGone(row, settled, following) : { replaying: settled, next: following };
  const endedAtMs = next.state === 'done' ? w.nowMs : numberOrNull(row, 'ended_at_ms');
  const { counts } = replaying;
  yield* send(sql`UPDATE operations SET state = ${next.state}, reason = ${next.reason}, ended_at_ms = ${endedAtMs},
      is_canary_over = ${next.isCanaryOver}, stop_at = ${next.stopAt}, room = ${roomOf({ ...replaying, ...progressOf(next) })},
      under_way = ${counts.under_way}, fixed = ${counts.fixed}, failed_same = ${counts.failed_same},
      failed_differently = ${counts.failed_differently}, cancelled = ${counts.cancelled}, unknown = ${counts.unknown},
      not_replayed = ${counts.not_replayed},
      updated_at_ms = ${w.nowMs}, turn = ${w.nextTurn()} WHERE id = ${id}`);
  return next.state === 'done' && (yield* resolveGroups(w, row, replaying));
}

/** Returns how the operation goes on. One that is paused stays so, and learns what becomes of its canary: else it would wait for it when it is resumed. */
function nextOf(row: Row, replaying: Replaying): NextProgress {
  const [was, reason] = [text(row, 'state'), textOrNull(row, 'reason')];
  if (was === 'running') return judged(replaying);
  if (was !== 'paused') return { state: was, reason, ...progressOf(replaying) };
  const next = judged(replaying);
  return { ...next, state: was, reason: next.reason ?? reason };
}

/** Counts errors that retention has deleted since the operation counted them: they were not reached, and are no results. */
function withGone(row: Row, replaying: Replaying, next: NextProgress): { replaying: Replaying; next: NextProgress } {
  const { counts } = replaying;
  const gone = number(row, 'total') - overIn(counts);
  if (gone <= 0) return { replaying, next };
  const errors = gone === 1 ? '1 error was' : `${gone} errors were`;
  return {
    replaying: { ...replaying, counts: { ...counts, not_replayed: counts.not_replayed + gone } },
    next: { ...next, reason: `${errors} deleted by retention before being replayed.` },
  };
}

interface NextProgress extends Pick<Replaying, 'isCanaryOver' | 'stopAt'> {
  readonly state: string;
  readonly reason: string | null;
}

function progressOf({ isCanaryOver, stopAt }: Pick<Replaying, 'isCanaryOver' | 'stopAt'>) {
  return { isCanaryOver, stopAt };
}

function* readEnded(id: string): Steps<readonly Ended[]> {
  const rows =
    yield* all(sql`SELECT r.entry, r.group_id, runs.state, runs.error_entry, failures.group_id AS failed_group
    FROM ${RESULTS_UNDER_WAY} LEFT JOIN ${ALL_RUNS} AS runs ON runs.run = r.run
      LEFT JOIN emissions AS failures ON failures.entry = runs.error_entry
    WHERE r.operation_id = ${id} AND r.outcome = 'under_way' ORDER BY r.entry`);
  return rows.flatMap((row) => {
    const groups = { group: textOrNull(row, 'group_id'), failedGroup: textOrNull(row, 'failed_group') };
    const outcome = outcomeOf(textOrNull<RunState>(row, 'state') ?? undefined, groups);
    return outcome === null
      ? []
      : [{ entry: number(row, 'entry'), outcome, errorEntry: numberOrNull(row, 'error_entry') }];
  });
}

/** Resolves the groups of which all errors are fixed, unless they have new ones since. Returns whether there may be one. */
function* resolveGroups(w: Writing, row: Row, replaying: Replaying): Steps<boolean> {
  const groupId = wholeGroupOf(replaying.order.selection);
  const operation = { id: text(row, 'id'), ownerId: text(row, 'owner_id') };
  if (groupId === null) return yield* resolveFixedGroups(operation, replaying, w.nowMs);
  // It was about all errors of the group, however many they are.
  if (!isAllFixed(replaying)) return false;
  const isTheirs = sql`id = ${groupId} AND owner_id = ${operation.ownerId}`;
  yield* send(setResolved(sql`${isTheirs} AND last_entry <= ${number(row, 'last_entry')}`, w.nowMs));
  return true;
}
