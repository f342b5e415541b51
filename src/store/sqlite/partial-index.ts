// SQLite uses a partial index only when the query repeats the index's condition word for word: `state = 'queued'` alone
// does not imply it. Repeated here, once.

/** The condition of runs_open. */
export const OPEN_RUN = "state IN ('queued', 'running', 'waiting')";

/** The condition of deliveries_open. */
export const OPEN_DELIVERY = "state IN ('pending', 'retrying', 'sending', 'held')";

/** Set with the end of a run: whatever it went on with, or was ordered to. What there is to show of it, `detail`, stays. */
export const NO_WAIT = 'wait_kind = NULL, due_at_ms = NULL, early = NULL, resumed = NULL, carried = NULL';

/** Of runs that have not ended and are under no lease. `?`: when; nothing ends before it started. */
export const CANCEL_RUNS = `UPDATE runs SET state = 'cancelled', ended_at_ms = max(?, coalesce(started_at_ms, 0)), ${NO_WAIT}`;

/** As `early` of a run: its owner cancels it, whatever it begins to wait for. */
export const STOPPED = JSON.stringify({ order: 'stop', request: null });
