// Cancelling runs that wait: they move to those that are over.

import type { RunState } from '../../../domain/run/run.ts';
import { numberOrNull, text } from '../../rows/cells.ts';
import { emptyQueue, fitting, type Listener, lockQueue, moveInSteps, ROWS_PER_STEP } from '../claims/queued-work.ts';
import type { ConfigWriting } from '../config/config-write.ts';
import { NOW_SQL } from '../connection/clock.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Core } from '../core.ts';
import { Ledger } from '../log/ledger.ts';

/** Looks at a run that changes hands at the same moment. */
const MAX_LOOKS = 5;

/** Runs in `gone`, as they are kept. `$1`: when; nothing ends before it started. */
export const KEEP_CANCELLED = `INSERT INTO runs (run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state,
    attempt, started_at_ms, ended_at_ms, awaited_by, summary, detail)
  SELECT run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, 'cancelled', attempt, started_at_ms,
    greatest($1::bigint, started_at_ms), awaited_by, summary_so_far, detail_so_far FROM gone`;

/** As they are stored, which is not read for it. */
export const DETAIL_BYTES = 'coalesce(pg_column_size(detail_so_far), 0)';

/** All that waits for a workflow or source that is being deleted. */
export async function cancelWaiting(w: ConfigWriting, runnable: Listener): Promise<void> {
  emptyQueue(w.tx, runnable);
  const step = (after: number) =>
    w.tx.query(
      `WITH next AS (${fitting(`SELECT run, run AS place, ${DETAIL_BYTES} AS bytes FROM open_runs
          WHERE runnable_id = $2 AND owner_id = $3 AND state IN ('queued', 'waiting') AND run > $4::bigint
          ORDER BY run LIMIT ${ROWS_PER_STEP}`)}),
        gone AS (DELETE FROM open_runs AS o USING next WHERE o.run = next.run RETURNING o.*),
        kept AS (${KEEP_CANCELLED})
        SELECT state, count(*) AS n, max(run) AS last FROM gone GROUP BY state`,
      w.nowMs,
      runnable.id,
      runnable.ownerId,
      after,
    );
  await moveInSteps(step, ({ state, n }) => {
    w.ledger.moved(runnable.ownerId, 'runs', { from: state as string, to: 'cancelled', n: n as number });
  });
}

interface Looked {
  readonly state: RunState | undefined;
  /** It was claimed, or handed back, between two statements. */
  readonly isStale: boolean;
  readonly awaitedBy: number | null;
}

/** See RunStore. */
export async function cancelRun(core: Core, ownerId: string, run: number): Promise<RunState | undefined> {
  for (let looks = 1; ; looks++) {
    const { state, isStale, awaitedBy } = await core.config.transact((tx) => cancelIn(core, tx, { ownerId, run }));
    if (isStale && looks < MAX_LOOKS) continue;
    if (state === 'cancelled' && awaitedBy !== null && awaitedBy !== core.node.id) core.notices.tell('answers');
    return state;
  }
}

async function cancelIn(core: Core, tx: Tx, which: { ownerId: string; run: number }): Promise<Looked> {
  const { ownerId, run } = which;
  const [asked, rows] = await Promise.all([
    tx.query(
      `UPDATE open_runs SET cancel_asked = true WHERE run = $1 AND owner_id = $2 AND state = 'running' RETURNING run`,
      run,
      ownerId,
    ),
    tx.query(
      `SELECT state, runnable_id, ${NOW_SQL} AS now_ms FROM all_runs WHERE run = $1 AND owner_id = $2`,
      run,
      ownerId,
    ),
  ]);
  const state = rows[0]?.state as RunState | undefined;
  const isWaiting = state === 'queued' || state === 'waiting';
  if (!rows[0] || !isWaiting) {
    return { state, isStale: state === 'running' && asked.length === 0, awaitedBy: null };
  }
  // Rows that are queued or wait are touched under their queue's lock only, and running ones never under it: whoever ends a run locks it
  // before its queue.
  const queue = { ownerId, id: rows[0].runnable_id as string };
  lockQueue(tx, queue);
  const [gone] = await tx.query(
    `WITH gone AS (DELETE FROM open_runs WHERE run = $2 AND state IN ('queued', 'waiting') RETURNING *),
      kept AS (${KEEP_CANCELLED})
      SELECT state, awaited_by FROM gone`,
    core.clock.heard(rows[0].now_ms as number, tx.beganAt),
    run,
  );
  if (!gone) return { state, isStale: true, awaitedBy: null };
  if (gone.state === 'queued') leaveQueue(tx, queue);
  const ledger = new Ledger();
  ledger.moved(ownerId, 'runs', { from: text(gone, 'state'), to: 'cancelled' });
  ledger.write(tx, core.node.slot);
  return { state: 'cancelled', isStale: false, awaitedBy: numberOrNull(gone, 'awaited_by') };
}

function leaveQueue(tx: Tx, queue: Listener): void {
  void tx.query(
    `UPDATE listener_queues SET waiting = waiting - 1, ready_at_ms = CASE WHEN waiting > 1 THEN ready_at_ms END
      WHERE owner_id = $1 AND listener_id = $2`,
    queue.ownerId,
    queue.id,
  );
}
