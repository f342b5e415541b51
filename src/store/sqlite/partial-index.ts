// Conditions of partial indexes. SQLite uses such an index only when the query has its condition word for word: `state = 'queued'`
// alone does not imply it.

/** The condition of runs_open. */
export const OPEN_RUN = "state IN ('queued', 'running', 'waiting')";

/** The condition of deliveries_open. */
export const OPEN_DELIVERY = "state IN ('pending', 'retrying', 'sending', 'held')";

/** Assignments for the end of a run: clear its wait, orders and checkpoint. Its `detail` stays. */
export const NO_WAIT = 'wait_kind = NULL, due_at_ms = NULL, early = NULL, resumed = NULL, carried = NULL';

/** Cancels runs that are open and not leased. `?`: when; no run ends before it started. */
export const CANCEL_RUNS = `UPDATE runs SET state = 'cancelled', ended_at_ms = max(?, coalesce(started_at_ms, 0)), ${NO_WAIT}`;

/** The `early` of a run that its owner has cancelled while it was running. */
export const STOPPED = JSON.stringify({ order: 'stop', request: null });
