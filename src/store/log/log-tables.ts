// Tables of the log in both databases. Postgres has separate tables for open runs and deliveries, and views of open and ended
// ones together; SQLite keeps an emission's flags as bits of one number.

import { REPLAY as REPLAYED } from '../../domain/emission.ts';
import type { RunState } from '../../domain/run/run.ts';
import type { ConfigDatabase } from '../config/config-database.ts';
import { differs, raw, type Sql, sql } from '../config/sql.ts';
import type { EmissionReader } from '../rows/log-rows.ts';

/** What reads of the log need. */
export interface LogReader extends EmissionReader {
  readonly database: Pick<ConfigDatabase, 'all' | 'get' | 'planned' | 'write'>;
  /** The time, as SQL: on Postgres the database's own. */
  readonly now: () => Sql;
  /** Called when a counter was seen to be wrong. */
  readonly suspectCounters: () => void;
}

export const ALL_RUNS = sql`${differs({ sqlite: 'runs', postgres: 'all_runs' })}`;
export const ALL_DELIVERIES = sql`${differs({ sqlite: 'deliveries', postgres: 'all_deliveries' })}`;

/** A condition on emissions: lists show them. */
export const LISTED = differs({ sqlite: 'flags & 8', postgres: 'listed' });
export const REPLAY = differs({ sqlite: '(emissions.flags & 2) <> 0 AS replay', postgres: 'emissions.replay' });

/** A condition on rows: their owner is not being deleted, so what is due of it happens. Hardly ever is an owner being deleted. */
export const IS_OF_LIVE_OWNER = 'owner_id NOT IN (SELECT id FROM owners WHERE purge_at_ms IS NOT NULL)';
export const OF_LIVE_OWNER = raw(IS_OF_LIVE_OWNER);

/** Columns of a run `runs`, its emission, and the emission of its error, `failures`, if any. */
export const LISTED_RUN = sql`runs.run, runs.runnable_id, runs.deployment_id, runs.state, runs.attempt, runs.entry,
  runs.started_at_ms, runs.ended_at_ms, runs.summary, runs.error_entry, runs.error_code, runs.wait_kind, runs.due_at_ms,
  emissions.origin_id, emissions.name, emissions.lineage, ${REPLAY},
  substr(failures.body, coalesce(failures.original_start + failures.original_length, 0) + 2) AS error_tail,
  CASE WHEN runs.state = 'failed' THEN (SELECT max(retries.run) FROM emissions AS again
    JOIN ${ALL_RUNS} AS retries ON retries.entry = again.entry
    WHERE again.owner_id = runs.owner_id AND again.cause_run = runs.run AND again.name = ${raw(`'${REPLAYED}'`)}) END AS retried_by`;

/** The tables that have what is open; in SQLite also what is over. */
export const OPEN_RUNS = differs({ sqlite: 'runs', postgres: 'open_runs' });
export const OPEN_DELIVERIES = differs({ sqlite: 'deliveries', postgres: 'open_deliveries' });

const OPEN_RECORDS = differs({
  sqlite: 'runs',
  postgres: `(SELECT *, NULL::bigint AS ended_at_ms, summary_so_far AS summary, NULL::bigint AS error_entry,
    NULL::text AS error_code FROM open_runs) AS runs`,
});
const ENDED_RECORDS = differs({
  sqlite: 'runs',
  postgres: '(SELECT *, NULL::text AS wait_kind, NULL::bigint AS due_at_ms FROM runs) AS runs',
});

/** Runs in a state: the table that has them, and the condition as text, so that partial indexes apply. */
export const RUNS_IN: Readonly<Record<RunState, { readonly from: Sql; readonly is: Sql }>> = {
  queued: { from: sql`${OPEN_RECORDS}`, is: sql`runs.state = 'queued'` },
  running: { from: sql`${OPEN_RECORDS}`, is: sql`runs.state = 'running'` },
  waiting: { from: sql`${OPEN_RECORDS}`, is: sql`runs.state = 'waiting'` },
  succeeded: { from: sql`${ENDED_RECORDS}`, is: sql`runs.state = 'succeeded'` },
  failed: { from: sql`${ENDED_RECORDS}`, is: sql`runs.state = 'failed'` },
  cancelled: { from: sql`${ENDED_RECORDS}`, is: sql`runs.state = 'cancelled'` },
};
