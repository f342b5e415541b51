// Orphaned runs and deliveries: queued for a listener while another node deleted or disabled it, since neither transaction saw
// the other. The next claim finds and moves them. It moves at most as many as one step of a deletion, since other claims wait
// meanwhile; if more are left, the queue stays ready.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { isWaiting, type ListenerMove } from '../../../domain/delivery/progress.ts';
import type { Listener } from '../../config/config-database.ts';
import { LedgerChanges } from '../../log/ledger.ts';
import { number, text } from '../../rows/cells.ts';
import { fitting, ROWS_PER_STEP } from '../claims/queued-work.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Core } from '../core.ts';
import { moveSome } from '../deliveries/move-deliveries.ts';
import { writeLedger } from '../log/ledger.ts';
import { DETAIL_BYTES, keepCancelled } from './cancel.ts';

/** Cancels runs of deleted workflows and sources, as many as fit into one claim. */
export async function cancelOrphanedRuns(
  core: Core,
  tx: Tx,
  { runnables, nowMs }: { runnables: readonly Listener[]; nowMs: number },
): Promise<void> {
  const ledger = new LedgerChanges();
  let left = ROWS_PER_STEP;
  for (const runnable of runnables) {
    if (left <= 0) break;
    const cancelled = await cancelSome(tx, runnable, { nowMs, most: left });
    ledger.moved(runnable.ownerId, 'runs', { from: 'queued', to: 'cancelled', n: cancelled });
    left -= cancelled;
  }
  writeLedger(tx, ledger, core.node.slot);
}

async function cancelSome(
  tx: Tx,
  runnable: Listener,
  { nowMs, most }: { nowMs: number; most: number },
): Promise<number> {
  if (!(await lockIdle(tx, runnable))) return 0;
  const cancelled = await tx.query(
    `WITH next AS (${fitting(`SELECT run, run AS place, ${DETAIL_BYTES} AS bytes FROM open_runs
        WHERE runnable_id = $2 AND state = 'queued' ORDER BY run LIMIT $3::int`)}),
      gone AS (DELETE FROM open_runs AS o USING next WHERE o.run = next.run RETURNING o.*)
      ${keepCancelled('$1::bigint')} RETURNING run`,
    nowMs,
    runnable.id,
    most,
  );
  const rest = "SELECT 1 FROM open_runs WHERE runnable_id = $2 AND state = 'queued'";
  closeQueue(tx, runnable, { moved: cancelled.length, rest });
  return cancelled.length;
}

export interface OrphanedDeliveries extends Listener {
  readonly move: ListenerMove;
}

/** Holds or cancels deliveries to disabled or deleted webhooks, as many as fit into one claim. */
export async function moveOrphanedDeliveries(
  core: Core,
  tx: Tx,
  { orphaned, nowMs }: { orphaned: readonly OrphanedDeliveries[]; nowMs: number },
): Promise<void> {
  const ledger = new LedgerChanges();
  let left = ROWS_PER_STEP;
  for (const { ownerId, id, move } of orphaned) {
    if (left <= 0) break;
    if (!(await lockIdle(tx, { ownerId, id }))) continue;
    let moved = 0;
    let waited = 0;
    for (const row of await moveSome(tx, { ownerId, id }, { move, after: 0, most: left, nowMs })) {
      const [from, n] = [text<DeliveryState>(row, 'state'), number(row, 'n')];
      ledger.moved(ownerId, 'deliveries', { from, to: text(row, 'now_state'), n });
      moved += n;
      if (isWaiting(from)) waited += n;
    }
    const rest = `SELECT 1 FROM open_deliveries WHERE owner_id = $1 AND listener_id = $2 AND state IN ('pending', 'retrying')`;
    closeQueue(tx, { ownerId, id }, { moved: waited, rest });
    left -= moved;
  }
  writeLedger(tx, ledger, core.node.slot);
}

/** Locks the queue. Returns false when another node has locked it. */
async function lockIdle(tx: Tx, { ownerId, id }: Listener): Promise<boolean> {
  const locked = await tx.query(
    'SELECT 1 FROM listener_queues WHERE owner_id = $1 AND listener_id = $2 FOR UPDATE SKIP LOCKED',
    ownerId,
    id,
  );
  return locked.length > 0;
}

/** Counts the moved rows. If `rest` finds more, the queue stays ready for the next claim. */
function closeQueue(tx: Tx, { ownerId, id }: Listener, { moved, rest }: { moved: number; rest: string }): void {
  void tx.query(
    `UPDATE listener_queues SET waiting = CASE WHEN EXISTS (${rest}) THEN greatest(waiting - $3::int, 1) ELSE 0 END,
        ready_at_ms = CASE WHEN EXISTS (${rest}) THEN ready_at_ms END WHERE owner_id = $1 AND listener_id = $2`,
    ownerId,
    id,
    moved,
  );
}
