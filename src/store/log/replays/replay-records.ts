// Reads of what replay operations are about, for both databases: the errors of a selection, in order, step by step.

import { ERRORS } from '../../../domain/emission.ts';
import { matchOf } from '../../../domain/error-filter.ts';
import { dealtWith, type ErrorSelection, MOST_AHEAD_MS, type ReplayOrder } from '../../../domain/errors/replaying.ts';
import { detailIn } from '../../../domain/failure.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { firstNumberOf } from '../../../domain/operation.ts';
import { differs, isAmongNumbers, joined, raw, type Sql, sql } from '../../config/sql.ts';
import type { OperationStore, ReplayCandidate, ReplayedError } from '../../contract/operations.ts';
import { bytes, number, numberOrNull, textOrNull } from '../../rows/cells.ts';
import { toEmission } from '../../rows/log-rows.ts';
import { toOperation } from '../../rows/operation-rows.ts';
import type { Row } from '../../rows/rows.ts';
import { LISTED, type LogReader } from '../log-tables.ts';
import { inRange, type NumberIndex, ordered } from '../search/number-ranges.ts';
import { selectLastReplays, toLastReplays } from './last-replays.ts';

/** Errors of an owner, behind one entry and up to another one. */
export interface SelectedRange {
  readonly ownerId: string;
  readonly selection: ErrorSelection;
  readonly after: number;
  readonly lastEntry: number;
  readonly limit: number;
}

export interface SelectedError {
  readonly entry: number;
  readonly emitterId: string | null;
  readonly bytes: number;
  /** False: its code, step or deployment is not the one that is wanted. It is looked at all the same. */
  readonly isMeant: boolean;
  readonly causeRun: number | null;
  readonly groupId: string | null;
}

/** Of each of these errors, what stands behind its event is read, too. */
const STEP_OF_DETAILS = 100;

/** Returns whether what stands behind the events decides which errors are meant. */
export function isByDetail({ step, deploymentId }: ErrorSelection): boolean {
  return step !== null || deploymentId !== null;
}

/** Returns how many errors of a selection are looked at in one go. */
export function atOnce(selection: ErrorSelection): number {
  return isByDetail(selection) ? STEP_OF_DETAILS : LIMITS.operationStep;
}

/** Returns the next errors, oldest first, as SQL. Named ones that are not there are not among the rows. */
export function selectedErrors({ ownerId, selection, after, lastEntry, limit }: SelectedRange): Sql {
  const tail = isByDetail(selection) ? ', substr(body, coalesce(original_start + original_length, 0) + 2) AS tail' : '';
  const columns = raw(`entry, emitter_id, code, cause_run, group_id, octet_length(body) AS bytes${tail}`);
  const { entries } = selection;
  if (entries !== null) {
    const named = entriesIn(entries, { after, lastEntry, limit });
    return sql`SELECT ${columns} FROM emissions WHERE entry ${isAmongNumbers(named)} AND owner_id = ${ownerId}
      AND name = ${ERRORS} ORDER BY entry`;
  }
  const index = indexOf(ownerId, selection);
  const from = Math.max(after + 1, firstNumberOf(selection.sinceMs ?? 0));
  const to = Math.min(lastEntry + 1, selection.untilMs === null ? Infinity : firstNumberOf(selection.untilMs));
  const where = joined([...index.where, ...inRange(index, { from, to })], ' AND ');
  return sql`SELECT ${columns} FROM emissions WHERE ${where} ORDER BY ${ordered(index, false)} LIMIT ${limit}`;
}

function entriesIn(
  entries: readonly number[],
  { after, lastEntry, limit }: Pick<SelectedRange, 'after' | 'lastEntry' | 'limit'>,
): readonly number[] {
  return entries.filter((entry) => entry > after && entry <= lastEntry).slice(0, limit);
}

/** Returns the errors of these rows, and of the named ones also those that are not there. */
export function toSelected(rows: readonly Row[], range: SelectedRange): readonly SelectedError[] {
  const { entries, code, step, deploymentId } = range.selection;
  const { byDetail } = matchOf({
    ...(step === null ? {} : { step }),
    ...(deploymentId === null ? {} : { deploymentId }),
  });
  const found = rows.map((row) => ({
    entry: number(row, 'entry'),
    emitterId: textOrNull(row, 'emitter_id'),
    bytes: number(row, 'bytes'),
    isMeant:
      (code === null || textOrNull(row, 'code') === code) &&
      (byDetail === null || byDetail(detailIn(bytes(row, 'tail')))),
    causeRun: numberOrNull(row, 'cause_run'),
    groupId: textOrNull(row, 'group_id'),
  }));
  if (entries === null) return found;
  const byEntry = new Map(found.map((one) => [one.entry, one]));
  const gone = { emitterId: null, bytes: 0, isMeant: true, causeRun: null, groupId: null };
  return entriesIn(entries, range).map((entry) => byEntry.get(entry) ?? { entry, ...gone });
}

function indexOf(ownerId: string, { groupId, emitterId }: ErrorSelection): NumberIndex {
  const isOwners = sql`owner_id = ${ownerId}`;
  if (groupId !== null) {
    const where = [raw('group_id IS NOT NULL'), isOwners];
    return { column: 'group_id', value: groupId, number: 'entry', where };
  }
  const where = [sql`emitter_id = ${emitterId}`, sql`${LISTED}`, isOwners];
  return { column: 'name', value: ERRORS, number: 'entry', where };
}

/** Of an operation's rate, as SQL. */
const PAUSE_MS = differs({
  sqlite: `coalesce(1000 / json_extract(replay, '$.rate'), 0)`,
  postgres: `coalesce(1000 / (replay::json ->> 'rate')::float8, 0)`,
});

/** Reads errors that may be replayed, with their events, which are read together: the caller bounds them. */
export async function candidatesOf(
  log: LogReader,
  ownerId: string,
  errors: readonly Pick<SelectedError, 'entry'>[],
): Promise<readonly ReplayCandidate[]> {
  const rows = await log.database.all(
    sql`SELECT * FROM emissions WHERE entry ${isAmongNumbers(errors.map(({ entry }) => entry))}
      AND owner_id = ${ownerId} AND name = ${ERRORS}`,
  );
  const found = new Map(rows.map((row) => [number(row, 'entry'), toEmission(row, log)]));
  return errors.map(({ entry }) => ({ entry, error: found.get(entry) ?? null }));
}

export function replayReads(log: LogReader): Pick<OperationStore, 'nextReplays'> {
  const { database } = log;

  async function read(range: SelectedRange): Promise<readonly SelectedError[]> {
    return toSelected(await database.planned(selectedErrors(range)), range);
  }

  /** Returns those whose replay has ended, by entry: their events are not read, however many they are. */
  async function leftOf(
    ownerId: string,
    errors: readonly SelectedError[],
    order: ReplayOrder,
  ): Promise<ReadonlyMap<number, ReplayedError>> {
    const ofRuns = errors.flatMap(({ entry, emitterId, groupId, causeRun, isMeant }) =>
      isMeant && causeRun !== null ? { entry, emitterId, groupId, causeRun } : [],
    );
    if (order.isAgain || ofRuns.length === 0) return new Map();
    const latest = toLastReplays(await database.all(selectLastReplays(ownerId, ofRuns)), ofRuns);
    const left = ofRuns.filter(({ entry }) => dealtWith(latest.get(entry), order) === 'leave');
    return new Map(left.map((one) => [one.entry, one]));
  }

  return {
    nextReplays: async () => {
      const mayGoOn = raw("(state = 'running' OR under_way > 0) AND state = 'running' AND room > 0 AND NOT is_through");
      const isDue = sql`(due_at_ms <= ${log.now()} OR due_at_ms > ${log.now()} + ${MOST_AHEAD_MS} + ${PAUSE_MS})`;
      const row = await database.get(
        sql`SELECT * FROM operations WHERE ${mayGoOn} AND is_counted AND ${isDue} ORDER BY turn, id LIMIT 1`,
      );
      if (!row) {
        const first = await database.get(
          sql`SELECT min(due_at_ms) AS due FROM operations WHERE ${mayGoOn} AND is_counted`,
        );
        return { dueAtMs: first ? numberOrNull(first, 'due') : null };
      }
      const operation = toOperation(row);
      const { ownerId, replaying } = operation;
      if (!replaying) throw new Error(`operation ${operation.id} has room for replays, and makes none`);
      const after = number(row, 'after_number');
      const { selection } = replaying.order;
      const range = { ownerId, selection, after, lastEntry: number(row, 'last_entry'), limit: atOnce(selection) };
      const errors = await read(range);
      const left = await leftOf(operation.ownerId, errors, replaying.order);
      const { taken, isAll } = withinBytes(errors, { most: number(row, 'room') + BESIDE_ROOM, left });
      const meant = taken.filter(({ isMeant }) => isMeant);
      const whole = await candidatesOf(
        log,
        ownerId,
        meant.filter(({ entry }) => !left.has(entry)),
      );
      const byEntry = new Map(whole.map((candidate) => [candidate.entry, candidate]));
      const candidates = meant.flatMap(({ entry }) => left.get(entry) ?? byEntry.get(entry) ?? []);
      const isLast = isAll && errors.length < range.limit;
      return { operation, after, through: taken.at(-1)?.entry ?? after, candidates, isLast };
    },
  };
}

/** Errors that are read beside those that may be replayed: some cannot be, and are only noted. */
const BESIDE_ROOM = 16;

/** Returns errors until so many are meant and not left, or their events are large. One alone may be larger. */
function withinBytes(
  errors: readonly SelectedError[],
  { most, left }: { readonly most: number; readonly left: ReadonlyMap<number, unknown> },
): { taken: readonly SelectedError[]; isAll: boolean } {
  let [bytes, meant] = [0, 0];
  for (const [i, error] of errors.entries()) {
    if (!error.isMeant || left.has(error.entry)) continue;
    bytes += error.bytes;
    if (meant > 0 && (meant === most || bytes > LIMITS.replayStepBytes))
      return { taken: errors.slice(0, i), isAll: false };
    meant++;
  }
  return { taken: errors, isAll: true };
}
