// SQLite uses a partial index only when the query repeats the index's condition word for word: `state = 'queued'` alone
// does not imply it. Repeated here, once.

/** The condition of runs_open. */
export const OPEN_RUN = "state IN ('queued', 'running', 'waiting')";

/** The condition of deliveries_open. */
export const OPEN_DELIVERY = "state IN ('pending', 'retrying', 'sending', 'held')";
