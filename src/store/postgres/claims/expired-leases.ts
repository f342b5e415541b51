// Finds runs and deliveries that no process executes: leased to a node that is gone, or with an expired lease of a living node
// (stuck code). Nodes that stopped beating are marked as gone first.
//
// A node that was cut off from the database within the last lease judges no other node (`isSteady`): after an outage, all of
// them look dead at first.

import { LIMITS } from '../../../domain/limits.ts';
import { number } from '../../rows/cells.ts';
import { IS_ABANDONED_HOOK } from '../config/source-changes.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';

const RUNS_PER_STEP = 500;
const DELIVERIES_PER_STEP = 500;

export interface Expired {
  readonly runs: Row[];
  readonly deliveries: Row[];
}

/** Marks nodes as gone, and locks expired rows. Rows that another node is rescuing are skipped. */
export async function readExpired(core: Core, tx: Tx): Promise<Expired> {
  const nowMs = core.clock.nowMs();
  if (core.node.isSteady) {
    void tx.query(
      `UPDATE nodes SET gone_at_ms = $1::bigint
        WHERE gone_at_ms IS NULL AND node <> $2 AND beat_at_ms < $1::bigint - ${LIMITS.nodeLeaseMs}`,
      nowMs,
      core.node.id,
    );
  }
  const [runs, deliveries] = await Promise.all([
    tx.query(
      // Through the queues, so that long queues are not read for the few runs under way.
      `SELECT o.run FROM listener_queues AS l CROSS JOIN LATERAL (
          SELECT run, node, lease_until_ms FROM open_runs
            WHERE runnable_id >= l.listener_id AND runnable_id <= l.listener_id AND due_at_ms IS NULL
              AND state = 'running' ORDER BY runnable_id DESC, run LIMIT l.taken) AS o
        WHERE l.is_run AND l.taken > 0
          AND (o.lease_until_ms <= $1::bigint OR o.node IN (SELECT node FROM nodes WHERE gone_at_ms IS NOT NULL))
        LIMIT ${RUNS_PER_STEP}`,
      nowMs,
    ),
    tx.query(
      `SELECT o.delivery FROM listener_queues AS l CROSS JOIN LATERAL (
          SELECT delivery, node, lease_until_ms FROM open_deliveries
            WHERE owner_id = l.owner_id AND listener_id = l.listener_id AND state = 'sending'
            ORDER BY delivery LIMIT l.taken) AS o
        WHERE NOT l.is_run AND l.taken > 0
          AND (o.lease_until_ms <= $1::bigint OR o.node IN (SELECT node FROM nodes WHERE gone_at_ms IS NOT NULL))
        LIMIT ${DELIVERIES_PER_STEP}`,
      nowMs,
    ),
  ]);
  return {
    runs: await lockRuns(
      tx,
      nowMs,
      runs.map((row) => number(row, 'run')),
    ),
    deliveries: await lockDeliveries(
      tx,
      nowMs,
      deliveries.map((row) => number(row, 'delivery')),
    ),
  };
}

/** Checked again under the lock: another node may have rescued the rows, and they may have been claimed again. */
const STILL_EXPIRED = `(o.lease_until_ms <= $2::bigint OR o.node IN (SELECT node FROM nodes WHERE gone_at_ms IS NOT NULL))`;

async function lockRuns(tx: Tx, nowMs: number, runs: readonly number[]): Promise<Row[]> {
  if (runs.length === 0) return [];
  return tx.query(
    `SELECT o.run, o.fence, o.owner_id AS run_owner, o.runnable_id, o.deployment_id, o.via, o.subscription_id, o.attempt,
        o.rescues, o.started_at_ms, o.awaited_by, o.cancel_asked, o.alone, o.waits, ${IS_ABANDONED_HOOK} AS is_abandoned, e.*
      FROM open_runs AS o JOIN emissions AS e ON e.entry = o.entry
      WHERE e.entry = ANY(ARRAY(SELECT entry FROM open_runs WHERE run = ANY($1::bigint[])))
        AND o.run = ANY($1::bigint[]) AND o.state = 'running' AND ${STILL_EXPIRED}
      ORDER BY o.run FOR UPDATE OF o SKIP LOCKED`,
    arrayLiteral(runs),
    nowMs,
  );
}

async function lockDeliveries(tx: Tx, nowMs: number, deliveries: readonly number[]): Promise<Row[]> {
  if (deliveries.length === 0) return [];
  return tx.query(
    `SELECT o.* FROM open_deliveries AS o WHERE o.delivery = ANY($1::bigint[]) AND o.state = 'sending' AND ${STILL_EXPIRED}
      ORDER BY o.delivery FOR UPDATE OF o SKIP LOCKED`,
    arrayLiteral(deliveries),
    nowMs,
  );
}
