// Work that waits for a listener which its owner deletes, disables or enables. Its queue is locked first, so nothing is claimed,
// queued or ended for the listener meanwhile.

import { isWebhook, MAIL } from '../../../domain/delivery/delivery.ts';
import { isRequestListener } from '../../../domain/delivery/http-request.ts';
import type { Listener } from '../../config/config-database.ts';
import { number } from '../../rows/cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Row } from '../connection/values.ts';
import { ListenerQueue, QUEUE_COLUMNS, toQueueRow } from '../log/listener-queue.ts';

const isRunQueue = (id: string): boolean => !isWebhook(id) && id !== MAIL && !isRequestListener(id);

/** Rows that one statement moves: a million may wait, and statements have a time limit. */
export const ROWS_PER_STEP = 20_000;
/** Bytes of runs' details that one statement copies: each may have megabytes. */
const BYTES_PER_STEP = 8 * 1024 * 1024;

/**
 * Selects the rows of a subquery that fit into one step, at least the first. The subquery has the order of each row (`place`) and
 * the bytes that are copied of it (`bytes`).
 */
export const fitting = (rows: string): string =>
  `SELECT * FROM (SELECT *, sum(bytes) OVER (ORDER BY place) - bytes AS bytes_before FROM (${rows}) AS row) AS sized
    WHERE bytes_before < ${BYTES_PER_STEP}`;

/**
 * Locks a queue, and inserts it if it is missing: else work that is being queued would be overlooked. Does nothing for a listener
 * that never existed.
 */
export function lockQueue(tx: Tx, listener: Listener): void {
  touchQueue(tx, listener, 'waiting = listener_queues.waiting');
}

/** Locks a queue, sets it to have nothing to claim, and resets its throttle. */
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

/** Reads a locked queue; undefined: there is none. */
export async function readQueue(tx: Tx, { ownerId, id }: Listener): Promise<ListenerQueue | undefined> {
  const [row] = await tx.query(
    `SELECT ${QUEUE_COLUMNS} FROM listener_queues AS l WHERE l.owner_id = $1 AND l.listener_id = $2`,
    ownerId,
    id,
  );
  return row && new ListenerQueue(toQueueRow(row), isRunQueue(id));
}

/**
 * Calls `step` until it moves no more rows. It moves rows behind a number, as many as one statement may, and returns for each
 * former state the count (`n`) and the `last` number. Without the number, each step would search through all rows that were
 * moved before.
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
