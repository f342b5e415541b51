// Groups that an operation has fixed although it was about something else than a whole group: about named errors, the errors of a
// workflow, or those of some time. Such a group is over when each of its errors is fixed by its newest replay, as after an
// operation on the whole group.
//
// All of it is read in the transaction that ends the operation, so it is bounded. A group beyond the bounds stays open.

import { isLeftUnfixed, overIn, type Replaying } from '../../../domain/errors/replaying.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { Operation } from '../../../domain/operation.ts';
import { FOR_UPDATE, isAmong, NO_KEY, type Sql, sql } from '../../config/sql.ts';
import { all, type Steps, send, together } from '../../config/steps.ts';
import { number, numberOrNull, text } from '../../rows/cells.ts';
import { setResolved } from '../groups/error-groups.ts';
import { followFailures, selectLastReplays, toLastReplays } from './last-replays.ts';

type Ended = Pick<Operation, 'id' | 'ownerId'>;

/** How many errors that an operation has not fixed itself are looked at, of all its groups together. */
const MOST_OTHERS = 5000;

/** Resolves the groups of which all errors are fixed that the log has. Returns whether there was one. */
export function* resolveFixedGroups(operation: Ended, { counts }: Replaying, nowMs: number): Steps<boolean> {
  if (overIn(counts) > LIMITS.countedRecords) return false;
  const ids = yield* lockGroups(operation);
  if (ids.length === 0) return false;
  const most = Math.ceil(MOST_OTHERS / ids.length);
  const found = yield* together(...ids.map((id) => othersOf(operation, id, most)));
  const others = found.map((rows) =>
    rows.map((row) => ({ entry: number(row, 'entry'), causeRun: numberOrNull(row, 'cause_run') })),
  );
  const read = others.filter((of) => of.length <= most).flat();
  const fixed = yield* fixedAmong(operation.ownerId, read);
  const over = ids.filter((id, i) => {
    const ofGroup = others[i] ?? [];
    return ofGroup.length <= most && ofGroup.every(({ entry }) => fixed(entry, id));
  });
  if (over.length > 0) yield* send(setResolved(sql`id ${isAmong(over)}`, nowMs));
  return over.length > 0;
}

/**
 * Locks the groups of which the operation has left no error unfixed. Until the transaction ends, no error is added to them.
 */
function* lockGroups({ id, ownerId }: Ended): Steps<readonly string[]> {
  const rows = yield* all(sql`SELECT group_id FROM operation_results WHERE operation_id = ${id} AND group_id IS NOT NULL
    GROUP BY group_id HAVING count(*) = sum(CASE WHEN outcome IN ('fixed', 'replayed_before') THEN 1 ELSE 0 END)`);
  const ids = rows.map((row) => text(row, 'group_id'));
  if (ids.length === 0) return [];
  const open = yield* all(sql`SELECT id FROM error_groups WHERE id ${isAmong(ids)} AND ${NO_KEY}owner_id = ${ownerId}
    AND state <> 'resolved' AND EXISTS (SELECT 1 FROM emissions WHERE emissions.entry = last_entry)
    ORDER BY id ${FOR_UPDATE}`);
  return open.map((row) => text(row, 'id'));
}

/** Selects errors of a group that the operation has not fixed, one more than `most`. */
function othersOf({ id, ownerId }: Ended, groupId: string, most: number): Sql {
  // A join might read all results of the operation for each group.
  const outcome = sql`(SELECT results.outcome FROM operation_results AS results
    WHERE results.operation_id = ${id} AND results.entry = emissions.entry)`;
  return sql`SELECT entry, cause_run FROM (SELECT entry, cause_run, ${outcome} AS outcome FROM emissions
      WHERE group_id IS NOT NULL AND group_id = ${groupId} AND owner_id = ${ownerId}) AS errors
    WHERE coalesce(outcome, '') <> 'fixed' LIMIT ${most + 1}`;
}

/** Returns what tells whether an error of a group is fixed by its newest replay. An error without a run never is. */
function* fixedAmong(
  ownerId: string,
  errors: readonly { readonly entry: number; readonly causeRun: number | null }[],
): Steps<(entry: number, groupId: string) => boolean> {
  const ofRuns = errors.flatMap(({ entry, causeRun }) => (causeRun === null ? [] : { entry, causeRun }));
  if (ofRuns.length === 0) return () => false;
  const newest = toLastReplays(yield* all(selectLastReplays(ownerId, ofRuns)), ofRuns);
  const replays = yield* followFailures(ownerId, newest);
  return (entry, groupId) => {
    const replay = replays.get(entry);
    return replay !== undefined && !isLeftUnfixed(replay, groupId);
  };
}
