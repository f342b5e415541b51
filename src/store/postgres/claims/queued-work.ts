// What waits for a workflow, source or webhook, when its owner deletes, disables or enables it. The queue is locked before
// any of it is touched: nothing is claimed, queued or ended for this listener meanwhile.

import { isWebhook, MAIL } from '../../../domain/delivery/delivery.ts';
import { isRequestListener } from '../../../domain/delivery/http-request.ts';
import { number } from '../../rows/cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Row } from '../connection/values.ts';
import { ListenerQueue, QUEUE_COLUMNS, toQueueRow } from '../log/listener-queue.ts';

export interface Listener {
  readonly ownerId: string;
  readonly id: string;
}

const isRunQueue = (id: string): boolean => !isWebhook(id) && id !== MAIL && !isRequestListener(id);

/** Deliveries in `gone`, as they are kept. `at`: a parameter, when. */
export const keepCancelled = (at: string): string =>
  `INSERT INTO deliveries (delivery, owner_id, kind, listener_id, subscription_id, via, entry, state, attempts_made,
      ended_at_ms, requests_made, tries, due_by, fence)
    SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, 'cancelled', attempts_made, ${at}::bigint,
      requests_made, tries, due_by, fence FROM gone`;

/** Rows moved by one statement: a million may wait, and a statement has its time limit. */
export const ROWS_PER_STEP = 20_000;
/** What runs tell of themselves that is copied by one statement: each may have megabytes of it. */
export const BYTES_PER_STEP = 8 * 1024 * 1024;

/**
 * Of the rows of a subquery, with their place in it (`place`) and the bytes of each that will be copied (`bytes`), those
 * that fit into one step: at least the first.
 */
export const fitting = (rows: string): string =>
  `SELECT * FROM (SELECT *, sum(bytes) OVER (ORDER BY place) - bytes AS bytes_before FROM (${rows}) AS row) AS sized
    WHERE bytes_before < ${BYTES_PER_STEP}`;

/**
 * Makes the queue when nothing has waited there yet: else what is just being queued would be overlooked. Not for a
 * listener that does not exist, and never did.
 */
export function lockQueue(tx: Tx, listener: Listener): void {
  touchQueue(tx, listener, 'waiting = listener_queues.waiting');
}

/** The same; nothing that can be claimed waits there from now on, and a throttle begins again. */
export function emptyQueue(tx: Tx, listener: Listener): void {
  touchQueue(tx, listener, 'waiting = 0, ready_at_ms = NULL, starts = NULL');
}

function touchQueue(tx: Tx, { ownerId, id }: Listener, change: string): void {
  void tx.query(
    `INSERT INTO listener_queues (owner_id, listener_id, is_run, waiting, taken) SELECT $1, $2, $3::boolean, 0, 0
      WHERE EXISTS (SELECT 1 FROM runnables WHERE id = $2 AND owner_id = $1)
        OR EXISTS (SELECT 1 FROM webhooks WHERE id = $2 AND owner_id = $1)
        OR EXISTS (SELECT 1 FROM listener_queues WHERE owner_id = $1 AND listener_id = $2) OR $2 = '${MAIL}'
        OR EXISTS (SELECT 1 FROM all_deliveries WHERE owner_id = $1 AND listener_id = $2 AND kind = 'http')
      ON CONFLICT (owner_id, listener_id) DO UPDATE SET ${change}`,
    ownerId,
    id,
    isRunQueue(id),
  );
}

/** A queue that is locked by now; undefined: there is none. */
export async function readQueue(tx: Tx, { ownerId, id }: Listener): Promise<ListenerQueue | undefined> {
  const [row] = await tx.query(
    `SELECT ${QUEUE_COLUMNS} FROM listener_queues AS l WHERE l.owner_id = $1 AND l.listener_id = $2`,
    ownerId,
    id,
  );
  return row && new ListenerQueue(toQueueRow(row), isRunQueue(id));
}

/**
 * `step` moves the next rows behind a number, as many as one statement may, and tells them by the state that they had: how
 * many (`n`) and the `last` number of each. By number and not just "the next ones": those would be looked for among all
 * that was moved.
 */
export async function moveInSteps(step: (after: number) => Promise<Row[]>, moved: (row: Row) => void): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await step(after);
    let count = 0;
    for (const row of rows) {
      moved(row);
      count += number(row, 'n');
      after = Math.max(after, number(row, 'last'));
    }
    if (count === 0) return;
  }
}
