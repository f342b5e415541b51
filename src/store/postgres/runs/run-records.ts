// What is read of runs. Those that are open and those that are over have tables of their own, united by the view all_runs;
// where a state is asked for, only one of the two can have it, and only that one is read.

import { utf8 } from '../../../domain/bytes.ts';
import { errorIn } from '../../../domain/failure.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { RunState } from '../../../domain/run/run.ts';
import type { RunStore } from '../../contract/store.ts';
import { bytes, numberOrNull, textOrNull } from '../../rows/cells.ts';
import type { Core } from '../core.ts';
import { causesOf } from '../log/log-records.ts';
import { readPage } from '../pages.ts';
import { toRunRecord } from '../rows.ts';

const RUN_COLUMNS = `r.run, r.runnable_id, r.deployment_id, r.state, r.attempt, r.entry, r.started_at_ms, r.ended_at_ms,
  r.summary, r.error_entry, r.error_code, r.wait_kind, r.due_at_ms, e.origin_id, e.name, e.replay`;

/** Emissions of one run that its record tells the receipts of. */
const MAX_CAUSES = 100;

const OPEN_RUNS = `(SELECT *, NULL::bigint AS ended_at_ms, summary_so_far AS summary, NULL::bigint AS error_entry,
  NULL::text AS error_code FROM open_runs)`;
const RUNS = '(SELECT *, NULL::text AS wait_kind, NULL::bigint AS due_at_ms FROM runs)';

const TABLES: Readonly<Record<RunState, string>> = {
  queued: OPEN_RUNS,
  running: OPEN_RUNS,
  waiting: OPEN_RUNS,
  succeeded: RUNS,
  failed: RUNS,
  cancelled: RUNS,
};

export function runReads(core: Core): Pick<RunStore, 'listRuns' | 'getRun'> {
  const { pool, storeTag } = core;
  return {
    listRuns: ({ ownerId, runnableId, state }, page) => {
      const where = ['r.owner_id = $2'];
      const values = [runnableId, ownerId];
      if (state !== undefined) where.push(`r.state = $${values.push(state)}`);
      const table = state === undefined ? 'all_runs' : TABLES[state];
      const listing = {
        from: `${table} AS r JOIN emissions AS e ON e.entry = r.entry`,
        countFrom: `${table} AS r`,
        columns: RUN_COLUMNS,
        key: 'r.run',
        within: { column: 'r.runnable_id', place: '$1' },
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: (row) => toRunRecord(row, storeTag) });
    },

    getRun: async (ownerId, run) => {
      const [row, causes] = await Promise.all([
        // Of the error, the part behind the original event is ours, and small.
        pool.get(
          `SELECT ${RUN_COLUMNS}, r.detail, e.body, e.cause_run, e.summary AS cause_summary,
              substring(x.body FROM coalesce(x.original_start + x.original_length, 0) + 2) AS error_tail
            FROM all_runs AS r JOIN emissions AS e ON e.entry = r.entry
              LEFT JOIN emissions AS x ON x.entry = r.error_entry
            WHERE r.run = $1 AND r.owner_id = $2`,
          run,
          ownerId,
        ),
        causesOf(core, { ownerId, run }, MAX_CAUSES),
      ]);
      if (!row) return undefined;
      return {
        ...toRunRecord(row, storeTag),
        event: bytes(row, 'body'),
        detail: textOrNull(row, 'detail'),
        errorBody: row.error_tail === null ? null : utf8(JSON.stringify(errorIn(bytes(row, 'error_tail')))),
        causedByRun: numberOrNull(row, 'cause_run'),
        causeSummary: textOrNull(row, 'cause_summary'),
        causes,
      };
    },
  };
}
