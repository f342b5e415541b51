// What the rows of open runs and deliveries say of the queues of their listeners.

/** When the next delivery is due; for an ordered webhook that with the lowest number. */
const READY = `CASE WHEN bool_or(w.is_ordered)
  THEN (array_agg(due_at_ms ORDER BY delivery) FILTER (WHERE state IN ('pending', 'retrying')))[1]
  ELSE min(due_at_ms) FILTER (WHERE state IN ('pending', 'retrying')) END`;

/** Selects queues as the rows have them. `listeners`: a parameter, the only listeners; null: all. */
export function rowsByQueue(listeners: string | null = null): string {
  const of = (column: string): string => (listeners === null ? '' : `WHERE ${column} = ANY(${listeners}::text[])`);
  return `SELECT owner_id, runnable_id AS listener_id, true AS is_run, count(*) FILTER (WHERE state = 'queued') AS waiting,
      count(*) FILTER (WHERE state = 'running') AS taken, NULL::bigint AS holder,
      min(0) FILTER (WHERE state = 'queued') AS ready_at_ms
      FROM open_runs ${of('runnable_id')} GROUP BY owner_id, runnable_id
    UNION ALL
    SELECT d.owner_id, d.listener_id, false, count(*) FILTER (WHERE state IN ('pending', 'retrying')),
      count(*) FILTER (WHERE state = 'sending'), max(d.node) FILTER (WHERE state = 'sending'), ${READY}
      FROM open_deliveries AS d LEFT JOIN webhooks AS w ON w.id = d.listener_id ${of('d.listener_id')}
      GROUP BY d.owner_id, d.listener_id`;
}

/** Selects queues together with what the rows say of them. `listeners`: as above. */
export function queuesAsRows(listeners: string | null = null): string {
  const only = listeners === null ? '' : `WHERE listener_id = ANY(${listeners}::text[])`;
  return `(SELECT coalesce(l.owner_id, r.owner_id) AS owner, coalesce(l.listener_id, r.listener_id) AS listener,
    coalesce(l.waiting, 0) AS waiting, coalesce(l.taken, 0) AS taken, l.ready_at_ms, l.holder, l.is_run, l.starts,
    coalesce(r.waiting, 0) AS rows_waiting, coalesce(r.taken, 0) AS rows_taken, r.holder AS rows_holder,
    greatest(l.paused_until_ms, r.ready_at_ms) AS rows_ready_at_ms
  FROM (SELECT * FROM listener_queues ${only}) AS l FULL JOIN (${rowsByQueue(listeners)}) AS r
    ON l.owner_id = r.owner_id AND l.listener_id = r.listener_id) AS queue`;
}

/** What may be wrong with a queue: conditions on the rows of `queuesAsRows`. */
export const QUEUE_FAULTS: readonly { readonly check: string; readonly detail: string; readonly is: string }[] = [
  {
    check: 'line_waiting',
    detail: 'queues whose count of waiting rows is wrong',
    is: 'waiting <> rows_waiting',
  },
  {
    check: 'line_taken',
    detail: 'queues whose count of rows under way is wrong',
    is: 'taken <> rows_taken',
  },
  {
    check: 'line_ready',
    detail: 'queues with waiting rows that claims skip or look at too late, or without any that claims look at',
    is: '((ready_at_ms IS NULL) <> (waiting = 0) OR (ready_at_ms > rows_ready_at_ms AND starts IS NULL))',
  },
  {
    check: 'line_holder',
    detail: 'queues of deliveries with rows under way, but no holder',
    is: '(NOT is_run AND taken > 0 AND holder IS NULL)',
  },
];
