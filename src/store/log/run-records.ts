// Reads of runs, for both databases.

import { utf8 } from '../../domain/bytes.ts';
import { errorIn } from '../../domain/failure.ts';
import { LIMITS } from '../../domain/limits.ts';
import { isOver, type RunState } from '../../domain/run/run.ts';
import { readPage } from '../config/pages.ts';
import { differs, raw, sql } from '../config/sql.ts';
import type { RunStore } from '../contract/store.ts';
import type { WaitStore } from '../contract/waits.ts';
import { bytes, number, numberOrNull, text, textOrNull } from '../rows/cells.ts';
import { toListedRun } from '../rows/log-rows.ts';
import { causesOf } from './log-records.ts';
import { ALL_RUNS, LISTED_RUN, type LogReader, RUNS_IN } from './log-tables.ts';

/** Emissions of one run whose receipts its record has. */
const MAX_CAUSES = 100;

export function runReads(log: LogReader): Pick<RunStore, 'listRuns' | 'getRun'> & Pick<WaitStore, 'waitingRun'> {
  const { database, storeTag } = log;
  return {
    listRuns: ({ ownerId, runnableId, state }, page) => {
      const { from, is } = state === undefined ? { from: sql`${ALL_RUNS} AS runs`, is: raw('true') } : RUNS_IN[state];
      return readPage(database, {
        from: sql`${from} JOIN emissions ON emissions.entry = runs.entry
          LEFT JOIN emissions AS failures ON failures.entry = runs.error_entry`,
        countFrom: from,
        columns: LISTED_RUN,
        key: raw('runs.run'),
        within:
          runnableId === undefined
            ? { column: raw('runs.owner_id'), value: ownerId }
            : { column: raw('runs.runnable_id'), value: runnableId },
        where: [sql`runs.owner_id = ${ownerId}`, is],
        countUpTo: LIMITS.countedRecords,
        page,
        map: (row) => toListedRun(row, storeTag),
      });
    },

    getRun: async (ownerId, run) => {
      const [row, causes] = await Promise.all([
        // Of the error, only the part after the original event is read: it is the service's own, and small.
        database.get(
          sql`SELECT ${LISTED_RUN}, runs.detail, emissions.body, emissions.cause_run, emissions.summary AS cause_summary
            FROM ${ALL_RUNS} AS runs JOIN emissions ON emissions.entry = runs.entry
              LEFT JOIN emissions AS failures ON failures.entry = runs.error_entry
            WHERE runs.run = ${run} AND runs.owner_id = ${ownerId}`,
        ),
        causesOf(log, { ownerId, run }, MAX_CAUSES),
      ]);
      if (!row) return undefined;
      return {
        ...toListedRun(row, storeTag),
        event: bytes(row, 'body'),
        detail: textOrNull(row, 'detail'),
        errorBody: row.error_tail === null ? null : utf8(JSON.stringify(errorIn(bytes(row, 'error_tail')))),
        causedByRun: numberOrNull(row, 'cause_run'),
        causeSummary: textOrNull(row, 'cause_summary'),
        causes,
      };
    },

    waitingRun: async (run) => {
      const row = await database.get(
        sql`SELECT owner_id, runnable_id, deployment_id, state, ${WAITS} FROM ${ALL_RUNS} AS runs WHERE run = ${run}`,
      );
      return (
        row && {
          ownerId: text(row, 'owner_id'),
          runnableId: text(row, 'runnable_id'),
          deploymentId: text(row, 'deployment_id'),
          state: text<RunState>(row, 'state'),
          // Of a run that is over, Postgres does not keep it.
          waits: isOver(text<RunState>(row, 'state')) ? 0 : number(row, 'waits'),
        }
      );
    },
  };
}

const WAITS = differs({
  sqlite: 'waits',
  postgres: 'coalesce((SELECT o.waits FROM open_runs AS o WHERE o.run = runs.run), 0) AS waits',
});
