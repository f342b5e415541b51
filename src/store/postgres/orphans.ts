// Runs that were queued for a workflow while another node deleted it: the one transaction did not see the other. Found
// by the next claim, and cancelled as those are that were queued before.

import { KEEP_CANCELLED } from './cancel.ts';
import type { Core } from './core.ts';
import type { Tx } from './lane.ts';
import { Ledger } from './ledger.ts';
import type { Row } from './values.ts';
import { keepCancelled } from './waiting.ts';

export async function cancelOrphans(
  core: Core,
  tx: Tx,
  of: { ownerId: string; runnableId: string; nowMs: number },
): Promise<void> {
  const { ownerId, runnableId, nowMs } = of;
  const locked = await tx.query(
    'SELECT 1 FROM lines WHERE owner_id = $1 AND listener_id = $2 FOR UPDATE SKIP LOCKED',
    ownerId,
    runnableId,
  );
  if (locked.length === 0) return;
  const cancelled = await tx.query(
    `WITH gone AS (DELETE FROM open_runs WHERE runnable_id = $2 AND state = 'queued' RETURNING *) ${KEEP_CANCELLED}
      RETURNING run`,
    nowMs,
    runnableId,
  );
  void tx.query(
    'UPDATE lines SET waiting = 0, ready_at_ms = NULL WHERE owner_id = $1 AND listener_id = $2',
    ownerId,
    runnableId,
  );
  const ledger = new Ledger();
  ledger.moved(ownerId, 'runs', { from: 'queued', to: 'cancelled', n: cancelled.length });
  ledger.write(tx, core.node.slot);
}

/** Deliveries that became due for a webhook while another node deleted or disabled it. */
export async function moveStray(
  core: Core,
  tx: Tx,
  of: { ownerId: string; listenerId: string; to: 'held' | 'cancelled'; nowMs: number },
): Promise<void> {
  const { ownerId, listenerId, to, nowMs } = of;
  const locked = await tx.query(
    'SELECT 1 FROM lines WHERE owner_id = $1 AND listener_id = $2 FOR UPDATE SKIP LOCKED',
    ownerId,
    listenerId,
  );
  if (locked.length === 0) return;
  const moved = to === 'held' ? await hold(tx, of) : await cancel(tx, { ...of, nowMs });
  void tx.query(
    'UPDATE lines SET waiting = 0, ready_at_ms = NULL WHERE owner_id = $1 AND listener_id = $2',
    ownerId,
    listenerId,
  );
  const ledger = new Ledger();
  for (const { state } of moved) ledger.moved(ownerId, 'deliveries', { from: state as string, to });
  ledger.write(tx, core.node.slot);
}

function hold(tx: Tx, of: { ownerId: string; listenerId: string }): Promise<Row[]> {
  return tx.query(
    `WITH waiting AS (SELECT delivery, state FROM open_deliveries
        WHERE owner_id = $1 AND listener_id = $2 AND state IN ('pending', 'retrying'))
      UPDATE open_deliveries AS o SET state = 'held', due_at_ms = NULL FROM waiting
        WHERE o.delivery = waiting.delivery AND o.delivery = ANY(ARRAY(SELECT delivery FROM waiting))
        RETURNING waiting.state`,
    of.ownerId,
    of.listenerId,
  );
}

function cancel(tx: Tx, of: { ownerId: string; listenerId: string; nowMs: number }): Promise<Row[]> {
  return tx.query(
    `WITH gone AS (DELETE FROM open_deliveries
        WHERE owner_id = $1 AND listener_id = $2 AND state IN ('pending', 'retrying') RETURNING *),
      kept AS (${keepCancelled('$3')})
      SELECT state FROM gone`,
    of.ownerId,
    of.listenerId,
    of.nowMs,
  );
}
