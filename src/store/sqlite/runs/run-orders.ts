// Ends of waits and cancellations of runs on SQLite. One process writes, so nothing is locked.

import type { RunState } from '../../../domain/run/run.ts';
import { type Sql, sql } from '../../config/sql.ts';
import type { Steps } from '../../config/steps.ts';
import type { RunStore } from '../../contract/store.ts';
import type { WaitStore } from '../../contract/waits.ts';
import { type CHANGED, cancelRun, endWaits, type RunOrders, resumeRun, untilUnchanged } from '../../log/run-orders.ts';
import { text } from '../../rows/cells.ts';
import type { Row } from '../../rows/rows.ts';
import { runSteps } from '../config/config-database.ts';
import type { Core } from '../core.ts';
import type { Transaction } from '../log/transaction.ts';
import { cancelRuns, STOPPED } from '../partial-index.ts';

type Orders = Pick<RunStore, 'cancelRun'> & Pick<WaitStore, 'resumeRun' | 'endWaits'>;

export function orderVerbs(core: Core): Orders {
  const order = <T>(steps: (orders: RunOrders) => Steps<T>): Promise<T> =>
    core.batch.write((tx) => runSteps(core, tx, () => steps(new SqliteRunOrders(tx))));
  const look = <T>(run: number, steps: (orders: RunOrders) => Steps<T | typeof CHANGED>): Promise<T> =>
    untilUnchanged(run, () => order(steps));
  return {
    cancelRun: (ownerId, run) => look(run, (orders) => cancelRun(orders, { ownerId, run })),
    resumeRun: (of, order, request) => look(of.run, (orders) => resumeRun(orders, of, { order, request })),
    endWaits: (limit) => order((orders) => endWaits(orders, limit)),
  };
}

class SqliteRunOrders implements RunOrders {
  readonly stopped = sql`early = ${STOPPED}`;
  readonly #tx: Transaction;

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  get nowMs(): number {
    return this.#tx.nowMs;
  }

  /** Reads by the index that is named: SQLite would choose that of states, and look through all runs that wait. */
  due(limit: number): Sql {
    return sql`SELECT run, owner_id, runnable_id, count(*) OVER () AS found FROM (
        SELECT run, owner_id, runnable_id, due_at_ms FROM runs INDEXED BY runs_due
          WHERE state = 'waiting' AND due_at_ms <= ${this.nowMs}
          ORDER BY due_at_ms, run LIMIT ${limit}) ORDER BY due_at_ms, run`;
  }

  cancelled(condition: Sql): Sql {
    return sql`${cancelRuns(this.nowMs, condition)} RETURNING run, owner_id, runnable_id`;
  }

  lockQueues(): void {}

  moved(runs: readonly Row[], { from, to }: { from: RunState; to: RunState }): void {
    const waiting = Number(to === 'queued') - Number(from === 'queued');
    for (const row of runs) {
      this.#tx.runsMoved(text(row, 'owner_id'), { from, to });
      if (waiting !== 0) this.#tx.runsOpened(text(row, 'runnable_id'), waiting);
    }
  }
}
