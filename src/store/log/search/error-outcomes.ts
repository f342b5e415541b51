// What became of errors: who was told, the replays of them, and whether the records of their runs are there.

import { EMAIL, HTTP, REPLAY } from '../../../domain/emission.ts';
import { hasGoneOn, kindOfReplay, retryOf } from '../../../domain/errors/replay.ts';
import { outcomeOf } from '../../../domain/errors/replaying.ts';
import { type Telling, type Told, toldBy } from '../../../domain/errors/told.ts';
import type { RunState } from '../../../domain/run/run.ts';
import { differs, isAmongNumbers, raw, sql } from '../../config/sql.ts';
import type { ErrorReplay } from '../../contract/search.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import type { Row } from '../../rows/rows.ts';
import { ALL_DELIVERIES, ALL_RUNS, type LogReader } from '../log-tables.ts';
import { madeBy } from '../replays/last-replays.ts';
import { digestedOf, type WithheldMail, withheldState } from './digested.ts';
import { noticedOf } from './noticed.ts';

/** Emissions of runs that nothing subscribes to: mails and requests. */
export const SENT = raw(`('${EMAIL}', '${HTTP}')`);
const REPLAYS = raw(`'${REPLAY}'`);
/** The global error workflow may still get what waits for its subscribers. */
const WITHHELD = raw("CASE WHEN due_at_ms IS NULL THEN 'withheld' ELSE 'queued' END");
/** A webhook's deliveries are cancelled when it is deleted; mails and notices, when a person has resolved what they tell of. */
const OF_DELIVERY = raw(
  "CASE WHEN deliveries.state = 'cancelled' AND deliveries.kind <> 'webhook' THEN 'resolved' ELSE deliveries.state END",
);
const NONE = raw('CAST (NULL AS BIGINT)');
const NO_MAIL = raw('CAST (NULL AS BIGINT) AS mail, CAST (NULL AS TEXT) AS digest_key, CAST (NULL AS TEXT) AS reason');

/** The numbers of an error that say what it is of. */
export interface ErrorNumbers {
  readonly ownerId: string;
  readonly entry: number;
  readonly causeRun: number | null;
  readonly causeDelivery: number | null;
  readonly groupId: string | null;
}

/**
 * Returns, by error, whether a listener or a channel was told. Runs and deliveries are read in one statement, so that none is missed
 * that moves between two tables.
 */
export async function toldOf(
  log: LogReader,
  ownerId: string,
  errors: readonly Pick<ErrorNumbers, 'entry' | 'groupId'>[],
): Promise<(error: Pick<ErrorNumbers, 'entry' | 'groupId'>) => Told> {
  const { database } = log;
  const entries = errors.map(({ entry }) => entry);
  if (entries.length === 0) return () => 'no_listener';
  const [read, noticed] = await Promise.all([readTellings(), noticedOf(log, ownerId, errors)]);
  const tellings = Map.groupBy(read, ({ root }) => root);
  return (error) => toldBy([...(tellings.get(error.entry) ?? []), ...noticed(error)]);

  async function readTellings(): Promise<(Telling & { root: number })[]> {
    const roots = isAmongNumbers(entries);
    const rows = await database.all(sql`SELECT entry AS root, run, ${NONE} AS sent_by, state, ${NO_MAIL}
        FROM ${ALL_RUNS} AS runs WHERE entry ${roots}
      UNION ALL SELECT entry, ${NONE}, ${NONE}, state, ${NO_MAIL} FROM ${ALL_DELIVERIES} AS deliveries WHERE entry ${roots}
      UNION ALL SELECT entry, ${NONE}, ${NONE}, ${WITHHELD}, ${NO_MAIL} FROM withheld WHERE entry ${roots}
      UNION ALL SELECT runs.entry, ${NONE}, runs.run, ${OF_DELIVERY}, ${NO_MAIL} FROM ${ALL_RUNS} AS runs
        JOIN emissions ON emissions.cause_run = runs.run AND emissions.name IN ${SENT}
        JOIN ${ALL_DELIVERIES} AS deliveries ON deliveries.entry = emissions.entry WHERE runs.entry ${roots}
      UNION ALL SELECT runs.entry, ${NONE}, runs.run, 'withheld', emissions.entry, emissions.digest_key, withheld.reason
        FROM ${ALL_RUNS} AS runs
        JOIN emissions ON emissions.cause_run = runs.run AND emissions.name IN ${SENT}
        JOIN withheld ON withheld.entry = emissions.entry WHERE runs.entry ${roots}`);
    const mails = rows.flatMap(withheldMailIn);
    const digested = await digestedOf(log, ownerId, mails);
    return rows.map((row) => {
      const [mail] = withheldMailIn(row);
      return {
        root: number(row, 'root'),
        run: numberOrNull(row, 'run'),
        sentBy: numberOrNull(row, 'sent_by'),
        state: mail
          ? (digested(mail.entry)?.state ?? withheldState(mail.reason))
          : text<Telling['state']>(row, 'state'),
      };
    });
  }
}

/** Returns the mail that a row tells to be withheld, if it does. */
function withheldMailIn(row: Row): WithheldMail[] {
  const entry = numberOrNull(row, 'mail');
  return entry === null ? [] : [{ entry, digestKey: textOrNull(row, 'digest_key'), reason: text(row, 'reason') }];
}

/** SQLite would look through all replays of the owner. */
const OF_DELIVERIES = differs({ sqlite: 'emissions INDEXED BY emissions_cause_delivery', postgres: 'emissions' });

/** Returns the replays of errors of one owner, newest first; of those that are alike the newest alone, unless `limit` says how many. */
export async function replaysOf(
  { database }: LogReader,
  errors: readonly ErrorNumbers[],
  limit?: number,
): Promise<(error: ErrorNumbers) => readonly ErrorReplay[]> {
  const made = await readReplays();
  return ({ entry, causeRun, causeDelivery, groupId: group }) =>
    made.flatMap(({ ofRun, ofDelivery, summary, failedGroup, ...replay }) => {
      if (ofRun === replay.run && !hasGoneOn(replay, entry)) return [];
      const isOurs = ofRun === null ? ofDelivery === causeDelivery : ofRun === causeRun;
      const kind = isOurs ? kindOfReplay({ name: REPLAY, summary }, { entry, run: causeRun }) : null;
      if (!kind) return [];
      const outcome = kind.isEdited ? null : (outcomeOf(replay.state, { group, failedGroup }) ?? 'under_way');
      return [{ ...kind, ...replay, outcome }];
    });

  async function readReplays() {
    const causes = [
      { from: raw('emissions'), column: raw('cause_run'), numbers: errors.flatMap(({ causeRun }) => causeRun ?? []) },
      {
        from: OF_DELIVERIES,
        column: raw('cause_delivery'),
        numbers: errors.flatMap(({ causeDelivery }) => causeDelivery ?? []),
      },
    ];
    const parts = causes.flatMap(({ from, column, numbers }) => {
      if (numbers.length === 0) return [];
      const of = sql`FROM ${from} WHERE owner_id = ${errors[0]?.ownerId ?? ''} AND ${column} ${isAmongNumbers(numbers)} AND name = ${REPLAYS}`;
      return limit === undefined
        ? sql`SELECT max(entry) AS entry ${of} GROUP BY ${column}, summary`
        : sql`SELECT entry ${of} ORDER BY entry DESC LIMIT ${limit}`;
    });
    const found = await Promise.all(
      parts.map((part) =>
        database.all(sql`SELECT emissions.cause_run, emissions.cause_delivery, emissions.summary, runs.run, runs.state,
            runs.ended_at_ms, runs.error_entry, ${madeBy('runs.run')} AS operation_id,
            (SELECT failures.group_id FROM emissions AS failures WHERE failures.entry = runs.error_entry) AS failed_group
          FROM (${part}) AS newest JOIN emissions ON emissions.entry = newest.entry
            JOIN ${ALL_RUNS} AS runs ON runs.entry = newest.entry ORDER BY runs.run DESC`),
      ),
    );
    return [...found.flat(), ...(await readOwn())].map((row) => ({
      ofRun: numberOrNull(row, 'cause_run'),
      ofDelivery: numberOrNull(row, 'cause_delivery'),
      summary: textOrNull(row, 'summary') ?? retryOf(number(row, 'run')),
      run: number(row, 'run'),
      state: text<RunState>(row, 'state'),
      operationId: textOrNull(row, 'operation_id'),
      endedAtMs: numberOrNull(row, 'ended_at_ms'),
      errorEntry: numberOrNull(row, 'error_entry'),
      failedGroup: textOrNull(row, 'failed_group'),
    }));
  }

  /** Reads the runs that the errors are of: one whose first failure is reported at once goes on. */
  async function readOwn() {
    const runs = errors.flatMap(({ causeRun }) => causeRun ?? []);
    if (runs.length === 0) return [];
    return await database.all(sql`SELECT runs.run AS cause_run, NULL AS cause_delivery, NULL AS summary, runs.run, runs.state,
        runs.ended_at_ms, runs.error_entry, NULL AS operation_id,
        (SELECT failures.group_id FROM emissions AS failures WHERE failures.entry = runs.error_entry) AS failed_group
      FROM ${ALL_RUNS} AS runs WHERE runs.run ${isAmongNumbers(runs)} AND runs.owner_id = ${errors[0]?.ownerId ?? ''}
        AND runs.state <> 'cancelled'`);
  }
}

/** Returns, by error, whether the record of the run that failed is there: an error may be kept longer. */
export async function retainedRunsOf(
  { database }: LogReader,
  errors: readonly ErrorNumbers[],
): Promise<(error: ErrorNumbers) => boolean> {
  const [{ ownerId } = { ownerId: '' }] = errors;
  const runs = errors.flatMap(({ causeRun }) => causeRun ?? []);
  const rows =
    runs.length === 0
      ? []
      : await database.all(
          sql`SELECT run FROM ${ALL_RUNS} AS runs WHERE run ${isAmongNumbers(runs)} AND owner_id = ${ownerId}`,
        );
  const retained = new Set(rows.map((row) => number(row, 'run')));
  return ({ causeRun }) => causeRun !== null && retained.has(causeRun);
}
