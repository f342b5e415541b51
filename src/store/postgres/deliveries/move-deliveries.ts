// Moves deliveries of a listener that are not under way, when its webhook is disabled, enabled or deleted. Its queue is locked.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import type { ListenerMove } from '../../../domain/delivery/progress.ts';
import type { Listener } from '../../config/config-database.ts';
import type { LedgerChanges } from '../../log/ledger.ts';
import { number, text } from '../../rows/cells.ts';
import { IS_UNSENT } from '../../rows/delivery-rows.ts';
import { moveInSteps, ROWS_PER_STEP } from '../claims/queued-work.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Row } from '../connection/values.ts';
import type { ListenerQueue } from '../log/listener-queue.ts';

/** Moves the rows in `next`. `$5`: when they are due or over. */
const MOVES: Readonly<Record<ListenerMove['to'], string>> = {
  held: update("'held'", 'NULL'),
  waiting: update(`CASE WHEN ${IS_UNSENT} THEN 'pending' ELSE 'retrying' END`, '$5::bigint'),
  cancelled: `gone AS (DELETE FROM open_deliveries AS o USING next WHERE o.delivery = next.delivery RETURNING o.*),
    kept AS (INSERT INTO deliveries (delivery, owner_id, kind, listener_id, subscription_id, via, entry, state,
        attempts_made, ended_at_ms, requests_made, tries, due_by, fence)
      SELECT delivery, owner_id, kind, listener_id, subscription_id, via, entry, 'cancelled', attempts_made, $5::bigint,
        requests_made, tries, due_by, fence FROM gone),
    moved AS (SELECT delivery, state, 'cancelled' AS now_state FROM gone)`,
};

function update(state: string, dueAtMs: string): string {
  return `moved AS (UPDATE open_deliveries AS o SET state = ${state}, due_at_ms = ${dueAtMs} FROM next
    WHERE o.delivery = next.delivery AND o.delivery = ANY(ARRAY(SELECT delivery FROM next))
    RETURNING o.delivery, next.state, o.state AS now_state)`;
}

interface MoveStep {
  readonly move: ListenerMove;
  /** Only deliveries behind this number. */
  readonly after: number;
  readonly most: number;
  readonly nowMs: number;
}

/** Moves the next deliveries. Returns for each state before (`state`) and after (`now_state`) how many (`n`), and the `last`. */
export function moveSome(tx: Tx, { ownerId, id }: Listener, { move, after, most, nowMs }: MoveStep): Promise<Row[]> {
  const values = [ownerId, id, after, most, ...(move.to === 'held' ? [] : [nowMs])];
  return tx.query(
    `WITH next AS (SELECT delivery, state FROM open_deliveries
        WHERE owner_id = $1 AND listener_id = $2 AND state IN ('${move.from.join("', '")}') AND delivery > $3::bigint
        ORDER BY delivery LIMIT $4::int),
      ${MOVES[move.to]}
      SELECT state, now_state, count(*) AS n, max(delivery) AS last FROM moved GROUP BY state, now_state`,
    ...values,
  );
}

interface Moving {
  readonly move: ListenerMove;
  readonly nowMs: number;
  readonly ledger: LedgerChanges;
  readonly node: number;
}

/** Moves all of them, and counts them. */
export async function moveDeliveries(
  tx: Tx,
  queue: ListenerQueue,
  { move, nowMs, ledger, node }: Moving,
): Promise<void> {
  const of = { ownerId: queue.ownerId, id: queue.listenerId };
  await moveInSteps(
    (after) => moveSome(tx, of, { move, after, most: ROWS_PER_STEP, nowMs }),
    (row) => {
      const [from, to] = [text<DeliveryState>(row, 'state'), text<DeliveryState>(row, 'now_state')];
      queue.deliveriesMoved({ from, to, n: number(row, 'n') }, ledger, node);
    },
  );
}
