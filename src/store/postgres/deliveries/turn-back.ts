// Deliveries behind a clock that was set back, and what nodes have noted of themselves.

import type { SetBack } from '../../contract/store.ts';
import { text } from '../../rows/cells.ts';
import { keepLastOfAll } from '../claims/node.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral } from '../connection/values.ts';

const COLUMNS = ['paused_until_ms', 'ready_at_ms', 'kept_until_ms', 'noticed_at_ms', 'failing_since_ms'];
const IS_LATER = COLUMNS.map((column) => `l.${column} > $1::bigint`).join(' OR ');

/** Returns whether a delivery in a state that waits in the queue `l` is due later. */
const waitsAs = (state: string): string => `EXISTS (SELECT 1 FROM open_deliveries AS d WHERE d.owner_id = l.owner_id
  AND d.listener_id = l.listener_id AND d.state = '${state}' AND d.due_at_ms > $1::bigint)`;

/**
 * Implements Writing.turnBackDeliveries. Queues are locked first, in the order of all that change deliveries, and only those in
 * which something is later: all others, most of them, work on meanwhile.
 */
export async function turnBackDeliveries(tx: Tx, { nowMs, backMs }: SetBack): Promise<void> {
  const queues = await tx.query(
    `SELECT l.owner_id, l.listener_id FROM listener_queues AS l
      WHERE ${IS_LATER} OR ${waitsAs('pending')} OR ${waitsAs('retrying')}
      ORDER BY l.owner_id, l.listener_id FOR UPDATE`,
    nowMs,
  );
  const locked = [
    arrayLiteral(queues.map((row) => text(row, 'owner_id'))),
    arrayLiteral(queues.map((row) => text(row, 'listener_id'))),
  ] as const;
  const ofLocked = 'unnest($3::text[], $4::text[]) AS q (owner_id, listener_id)';
  void tx.query(
    `UPDATE open_deliveries AS d SET due_at_ms = d.due_at_ms - $2::bigint FROM ${ofLocked}
      WHERE d.owner_id = q.owner_id AND d.listener_id = q.listener_id
        AND d.state IN ('pending', 'retrying') AND d.due_at_ms > $1::bigint`,
    nowMs,
    backMs,
    ...locked,
  );
  void tx.query(
    `UPDATE listener_queues AS l SET ${COLUMNS.map((c) => `${c} = CASE WHEN l.${c} > $1::bigint THEN l.${c} - $2::bigint ELSE l.${c} END`).join(', ')}
      FROM ${ofLocked} WHERE l.owner_id = q.owner_id AND l.listener_id = q.listener_id`,
    nowMs,
    backMs,
    ...locked,
  );
  // A node that is gone would be taken for alive until the clock is there again.
  await tx.query(
    'UPDATE nodes SET beat_at_ms = $1::bigint WHERE gone_at_ms IS NULL AND beat_at_ms > $1::bigint',
    nowMs,
  );
  await keepLastOfAll(tx);
}
