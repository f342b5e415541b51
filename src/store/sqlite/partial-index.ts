// Conditions of partial indexes. SQLite uses such an index only when the query has its condition word for word: `state = 'queued'`
// alone does not imply it.

import { raw, type Sql, sql } from '../config/sql.ts';

/** Assignments for the end of a run: clear its wait, orders, checkpoint and room. Its `detail` stays. */
export const NO_WAIT = 'wait_kind = NULL, due_at_ms = NULL, early = NULL, resumed = NULL, carried = NULL, room = NULL';

/** Cancels the runs that meet a condition; they are open and not leased. No run ends before it started. */
export const cancelRuns = (nowMs: number, condition: Sql): Sql =>
  sql`UPDATE runs SET state = 'cancelled', ended_at_ms = max(${nowMs}, coalesce(started_at_ms, 0)), ${raw(NO_WAIT)}
    WHERE ${condition}`;

/** The `early` of a run that its owner has cancelled while it was running. */
export const STOPPED = JSON.stringify({ order: 'stop', request: null });
