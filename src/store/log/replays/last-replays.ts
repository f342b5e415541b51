// Replays that stand for errors: an operation makes none beside them.

import { REPLAY } from '../../../domain/emission.ts';
import { EDITED, hasGoneOn, kindOfReplay, type Replay, retryOf, standsFor } from '../../../domain/errors/replay.ts';
import type { RunState } from '../../../domain/run/run.ts';
import { differs, isAmongNumbers, raw, type Sql, sql } from '../../config/sql.ts';
import { all, type Steps, together } from '../../config/steps.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import type { Row } from '../../rows/rows.ts';
import { ALL_RUNS } from '../log-tables.ts';

/** An error of a run. */
export interface OfRun {
  readonly entry: number;
  readonly causeRun: number;
}

/** A replay that stands for an error. */
export interface LastReplay extends Replay {
  /** The group of the error that it ended in; null: it did not fail, or that error is gone. */
  readonly failedGroup: string | null;
  readonly errorEntry: number | null;
  /** It failed, and the error that it ended in was replayed until it was fixed; known of what `followFailures` has returned. */
  readonly isFixedSince: boolean;
}

/** Returns the operation that made a run, if one has: only of those that follow it the results have a reason. */
export const madeBy = (run: 'runs.run' | 'newest.run'): Sql =>
  raw(`(SELECT max(results.operation_id) FROM operation_results AS results
    WHERE results.run = ${run} AND results.reason IS NULL)`);

/** A condition on replays: they run another event than that of the error. */
const IS_OTHER_EVENT = raw(`emissions.summary LIKE '%${EDITED}'`);

/**
 * Selects the newest replays and retries of one owner's errors that were not cancelled, of those that are alike one; and the runs
 * that the errors are of, which may have gone on.
 */
export function selectLastReplays(ownerId: string, errors: readonly OfRun[]): Sql {
  // Runs are looked up one by one: joined with them, Postgres may read all of them by their index. The sum keeps it from walking
  // all runs down for the largest number: 1.2 ms for each error behind 4,000 runs, and 20 µs with it.
  return sql`SELECT newest.cause_run, newest.summary, newest.run, ${madeBy('newest.run')} AS operation_id,
      (SELECT made.state FROM ${ALL_RUNS} AS made WHERE made.run = newest.run) AS state,
      (SELECT made.error_entry FROM ${ALL_RUNS} AS made WHERE made.run = newest.run) AS error_entry,
      (SELECT failures.group_id FROM emissions AS failures
        WHERE failures.entry = (SELECT made.error_entry FROM ${ALL_RUNS} AS made WHERE made.run = newest.run)) AS failed_group
    FROM (SELECT again.cause_run, again.summary, max(again.run) AS run
        FROM (SELECT emissions.cause_run, emissions.summary, (SELECT max(made.run + 0) FROM ${ALL_RUNS} AS made
              WHERE made.entry = emissions.entry AND made.state <> 'cancelled'
                AND NOT (made.state = 'failed' AND ${IS_OTHER_EVENT})) AS run
            FROM emissions WHERE emissions.owner_id = ${ownerId} AND emissions.name = ${raw(`'${REPLAY}'`)}
              AND emissions.cause_run ${isAmongNumbers(errors.map(({ causeRun }) => causeRun))}) AS again
        WHERE again.run IS NOT NULL GROUP BY again.cause_run, again.summary) AS newest
    UNION ALL SELECT own.run, NULL, own.run, NULL, own.state, own.error_entry,
      (SELECT failures.group_id FROM emissions AS failures WHERE failures.entry = own.error_entry)
    FROM ${ALL_RUNS} AS own WHERE own.run ${isAmongNumbers(errors.map(({ causeRun }) => causeRun))}
      AND own.owner_id = ${ownerId} AND own.state <> 'cancelled'
    ORDER BY run`;
}

/** A run of an event that had failed. */
export interface Rerun extends Pick<LastReplay, 'run' | 'state' | 'operationId' | 'failedGroup' | 'errorEntry'> {
  readonly causeRun: number;
  readonly summary: string;
}

/** Returns the newest replay that stands for each error, by entry. */
export function toLastReplays(rows: readonly Row[], errors: readonly OfRun[]): ReadonlyMap<number, LastReplay> {
  const reruns = rows.map((row) => ({
    causeRun: number(row, 'cause_run'),
    summary: textOrNull(row, 'summary') ?? retryOf(number(row, 'cause_run')),
    run: number(row, 'run'),
    state: text<RunState>(row, 'state'),
    operationId: textOrNull(row, 'operation_id'),
    failedGroup: textOrNull(row, 'failed_group'),
    errorEntry: numberOrNull(row, 'error_entry'),
  }));
  return lastReplaysAmong(reruns, errors);
}

/** Returns the same of runs, which are in the order of their numbers. */
export function lastReplaysAmong(reruns: readonly Rerun[], errors: readonly OfRun[]): ReadonlyMap<number, LastReplay> {
  const entriesOf = Map.groupBy(errors, ({ causeRun }) => causeRun);
  const latest = new Map<number, LastReplay>();
  for (const { causeRun, summary, ...rerun } of reruns) {
    for (const { entry } of entriesOf.get(causeRun) ?? []) {
      const kind = kindOfReplay({ name: REPLAY, summary }, { entry, run: causeRun });
      const replay = kind && { ...kind, ...rerun, isFixedSince: false };
      if (!replay || !standsFor(replay)) continue;
      if (rerun.run !== causeRun || hasGoneOn(rerun, entry)) latest.set(entry, replay);
    }
  }
  return latest;
}

/** Locks errors of one owner, and returns the replays that stand for them. */
export function* lockLastReplays(ownerId: string, errors: readonly OfRun[]): Steps<ReadonlyMap<number, LastReplay>> {
  const [, made = []] = yield* together(lockErrors(ownerId, errors), selectLastReplays(ownerId, errors));
  return toLastReplays(made, errors);
}

/** How many replays of replays are followed in a row, beside those of errors that are looked at together. */
const FOLLOWED = 100;

/** Returns the replays, each failed one with what became of the error that it ended in. */
export function* followFailures(
  ownerId: string,
  replays: ReadonlyMap<number, LastReplay>,
): Steps<ReadonlyMap<number, LastReplay>> {
  const known = new Map<number, LastReplay | undefined>(replays);
  let ends = endsOf(replays, known);
  for (let times = 0; times < FOLLOWED && ends.length > 0; times++) {
    const latest = toLastReplays(yield* all(selectLastReplays(ownerId, ends)), ends);
    for (const { entry } of ends) known.set(entry, latest.get(entry));
    ends = endsOf(latest, known);
  }
  const fixed = new Set<number>();
  const isFixedSince = ({ state, errorEntry }: LastReplay): boolean =>
    state === 'failed' && errorEntry !== null && fixed.has(errorEntry);
  // Newest first: a replay ends in an error that is newer than its own.
  for (const [entry, replay] of [...known].sort(([one], [other]) => other - one)) {
    if (replay && (replay.state === 'succeeded' || isFixedSince(replay))) fixed.add(entry);
  }
  return new Map([...replays].map(([of, replay]) => [of, { ...replay, isFixedSince: isFixedSince(replay) }]));
}

/** Returns the errors that replays ended in, each once, but for those whose replay is known. */
function endsOf(replays: ReadonlyMap<number, LastReplay>, known: ReadonlyMap<number, unknown>): readonly OfRun[] {
  const ends = [...replays.values()].flatMap(({ state, run, errorEntry }) =>
    state === 'failed' && errorEntry !== null && !known.has(errorEntry) ? [{ entry: errorEntry, causeRun: run }] : [],
  );
  return [...new Map(ends.map((end) => [end.entry, end])).values()];
}

/** Locks errors, so that of several operations that come to one at the same time the second sees the replay of the first. */
function lockErrors(ownerId: string, errors: readonly OfRun[]): Sql {
  return sql`SELECT entry FROM emissions WHERE entry ${isAmongNumbers(errors.map(({ entry }) => entry))}
    AND owner_id = ${ownerId} ORDER BY entry ${differs({ sqlite: '', postgres: 'FOR NO KEY UPDATE' })}`;
}
