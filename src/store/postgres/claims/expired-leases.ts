// Finds runs and deliveries that no process executes: leased to a node that is gone, or with an expired lease of a living node
// (stuck code). Nodes that stopped beating are marked as gone first.
//
// A node that was cut off from the database within the last lease judges no other node (`isSteady`): after an outage, all of
// them look dead at first. So they do when the database's clock was set forward, and then leases of living nodes look
// expired, too: they are not judged until those that were taken before have ended.

import { LIMITS } from '../../../domain/limits.ts';
import { abandonedHook } from '../../config/source-changes.ts';
import { number } from '../../rows/cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { LONGEST_LEASE_MS } from './leases.ts';

const RUNS_PER_STEP = 500;
const DELIVERIES_PER_STEP = 500;

/** A condition on mark `c` of `source_changes`: its process is gone. */
export const IS_ABANDONED = `NOT EXISTS (SELECT 1 FROM nodes AS n WHERE n.node = c.node AND n.gone_at_ms IS NULL)`;

export interface Expired {
  readonly runs: Row[];
  readonly deliveries: Row[];
}

/**
 * Returns a condition on a row `o` that was leased. Checked again under the lock: another node may have rescued the row, and it
 * may have been claimed again.
 */
const isExpired = (now: string): string =>
  `(o.lease_until_ms <= ${now} OR o.node IN (SELECT node FROM nodes WHERE gone_at_ms IS NOT NULL))`;

/** Marks nodes as gone, and locks expired rows. Rows that another node is rescuing are skipped. */
export async function readExpired(core: Core, tx: Tx): Promise<Expired> {
  const nowMs = core.clock.nowMs();
  const leasesMs = core.clock.setForwardAgoMs <= LONGEST_LEASE_MS ? 0 : nowMs;
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
          AND ${isExpired('$1::bigint')}
        LIMIT ${RUNS_PER_STEP}`,
      leasesMs,
    ),
    tx.query(
      `SELECT o.delivery FROM listener_queues AS l CROSS JOIN LATERAL (
          SELECT delivery, node, lease_until_ms FROM open_deliveries
            WHERE owner_id = l.owner_id AND listener_id = l.listener_id AND state = 'sending'
            ORDER BY delivery LIMIT l.taken) AS o
        WHERE NOT l.is_run AND l.taken > 0
          AND ${isExpired('$1::bigint')}
        LIMIT ${DELIVERIES_PER_STEP}`,
      leasesMs,
    ),
  ]);
  return {
    runs: await lockRuns(
      tx,
      leasesMs,
      runs.map((row) => number(row, 'run')),
    ),
    deliveries: await lockDeliveries(
      tx,
      leasesMs,
      deliveries.map((row) => number(row, 'delivery')),
    ),
  };
}

async function lockRuns(tx: Tx, leasesMs: number, runs: readonly number[]): Promise<Row[]> {
  if (runs.length === 0) return [];
  return tx.query(
    `SELECT o.run, o.fence, o.owner_id AS run_owner, o.runnable_id, o.deployment_id, o.via, o.subscription_id, o.attempt,
        o.rescues, o.started_at_ms, o.awaited_by, o.cancel_asked, o.alone, o.waits, ${abandonedHook(IS_ABANDONED)} AS is_abandoned, e.*
      FROM open_runs AS o JOIN emissions AS e ON e.entry = o.entry
      WHERE e.entry = ANY(ARRAY(SELECT entry FROM open_runs WHERE run = ANY($1::bigint[])))
        AND o.run = ANY($1::bigint[]) AND o.state = 'running' AND ${isExpired('$2::bigint')}
      ORDER BY o.run FOR UPDATE OF o SKIP LOCKED`,
    arrayLiteral(runs),
    leasesMs,
  );
}

async function lockDeliveries(tx: Tx, leasesMs: number, deliveries: readonly number[]): Promise<Row[]> {
  if (deliveries.length === 0) return [];
  return tx.query(
    `SELECT o.* FROM open_deliveries AS o WHERE o.delivery = ANY($1::bigint[]) AND o.state = 'sending' AND ${isExpired('$2::bigint')}
      ORDER BY o.delivery FOR UPDATE OF o SKIP LOCKED`,
    arrayLiteral(deliveries),
    leasesMs,
  );
}
