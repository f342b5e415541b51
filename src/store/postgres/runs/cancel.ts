// Cancels waiting runs: moves them to the table of ended runs.

import type { Listener } from '../../config/config-database.ts';
import { number, text } from '../../rows/cells.ts';
import { emptyQueue, fitting, moveInSteps, ROWS_PER_STEP } from '../claims/queued-work.ts';
import type { ConfigWriting } from '../config/config-write.ts';

/** Inserts the runs in `gone` as cancelled at `at`, which is SQL. No run ends before it started. */
export const keepCancelled = (at: string): string =>
  `INSERT INTO runs (run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, state, attempt, started_at_ms,
      ended_at_ms, awaited_by, summary, detail)
    SELECT run, owner_id, runnable_id, deployment_id, entry, via, subscription_id, 'cancelled', attempt, started_at_ms,
      greatest(${at}, started_at_ms), awaited_by, summary_so_far, detail_so_far FROM gone`;

/** The stored size of the detail, which is known without reading it. */
export const DETAIL_BYTES = 'coalesce(pg_column_size(detail_so_far), 0)';

/** Cancels all runs that wait for a workflow or source which is being deleted. */
export async function cancelWaiting(w: ConfigWriting, runnable: Listener): Promise<void> {
  emptyQueue(w.tx, runnable);
  const step = (after: number) =>
    w.tx.query(
      `WITH next AS (${fitting(`SELECT run, run AS place, ${DETAIL_BYTES} AS bytes FROM open_runs
          WHERE runnable_id = $2 AND owner_id = $3 AND state IN ('queued', 'waiting') AND run > $4::bigint
          ORDER BY run LIMIT ${ROWS_PER_STEP}`)}),
        gone AS (DELETE FROM open_runs AS o USING next WHERE o.run = next.run RETURNING o.*),
        kept AS (${keepCancelled('$1::bigint')})
        SELECT state, count(*) AS n, max(run) AS last FROM gone GROUP BY state`,
      w.nowMs,
      runnable.id,
      runnable.ownerId,
      after,
    );
  await moveInSteps(step, (row) => {
    w.ledger.moved(runnable.ownerId, 'runs', { from: text(row, 'state'), to: 'cancelled', n: number(row, 'n') });
  });
}
