// Ends of waits and cancellations of runs on Postgres. Rows that are queued or wait are changed under the lock of their queue
// only, so of several nodes and requests that end a wait at once, one does.

import type { RunState } from '../../../domain/run/run.ts';
import type { Listener } from '../../config/config-database.ts';
import { raw, type Sql, sql } from '../../config/sql.ts';
import type { Steps } from '../../config/steps.ts';
import type { RunStore } from '../../contract/store.ts';
import type { WaitStore } from '../../contract/waits.ts';
import { LedgerChanges } from '../../log/ledger.ts';
import { type CHANGED, cancelRun, endWaits, type RunOrders, resumeRun, untilUnchanged } from '../../log/run-orders.ts';
import { numberOrNull, text } from '../../rows/cells.ts';
import { fitting } from '../claims/queued-work.ts';
import { runSteps } from '../config/config-database.ts';
import type { NotifyChannel } from '../connection/notify.ts';
import type { TransactionConnection, Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { writeLedger } from '../log/ledger.ts';
import { DETAIL_BYTES, keepCancelled } from './cancel.ts';

type Orders = Pick<RunStore, 'cancelRun'> & Pick<WaitStore, 'resumeRun' | 'endWaits'>;

export function orderVerbs(core: Core): Orders {
  type Order<T> = (orders: RunOrders) => Steps<T>;
  const order = async <T>(connection: TransactionConnection, steps: Order<T>): Promise<T> => {
    let notified: ReadonlySet<NotifyChannel> = new Set();
    const answer = await connection.transact(async (tx) => {
      const orders = new PostgresRunOrders(core, tx);
      notified = orders.notified;
      const value = await runSteps(tx, steps(orders));
      writeLedger(tx, orders.ledger, core.node.slot);
      return value;
    });
    for (const channel of notified) core.notices.tell(channel);
    return answer;
  };
  const look = <T>(run: number, connection: TransactionConnection, steps: Order<T | typeof CHANGED>): Promise<T> =>
    untilUnchanged(run, () => order(connection, steps));
  // Waits end on the connection of the claims, whose plans suit many waits at once; a claim waits the few milliseconds that a
  // busy queue is locked.
  const { claims, config } = core;
  return {
    cancelRun: (ownerId, run) => look(run, config, (orders) => cancelRun(orders, { ownerId, run })),
    resumeRun: (of, order, request) => look(of.run, claims, (orders) => resumeRun(orders, of, { order, request })),
    endWaits: (limit) => order(claims, (orders) => endWaits(orders, limit)),
  };
}

const FITTING_DUE =
  fitting(`SELECT run, owner_id, runnable_id, row_number() OVER due AS place, count(*) OVER () AS found,
    CASE WHEN wait_kind = 'suspend' THEN ${DETAIL_BYTES} ELSE 0 END AS bytes
  FROM first WINDOW due AS (ORDER BY due_at_ms, run)`);

class PostgresRunOrders implements RunOrders {
  readonly stopped = raw('cancel_asked = true');
  readonly nowMs: number;
  readonly ledger = new LedgerChanges();
  readonly notified = new Set<NotifyChannel>();
  readonly #core: Core;
  readonly #tx: Tx;

  constructor(core: Core, tx: Tx) {
    this.#core = core;
    this.#tx = tx;
    this.nowMs = core.clock.nowMs();
  }

  due(limit: number): Sql {
    return sql`WITH first AS (SELECT run, owner_id, runnable_id, wait_kind, detail_so_far, due_at_ms FROM open_runs
        WHERE due_at_ms <= ${this.nowMs} ORDER BY due_at_ms, run LIMIT ${limit})
      SELECT run, owner_id, runnable_id, found FROM (${raw(FITTING_DUE)}) AS due ORDER BY place`;
  }

  cancelled(condition: Sql): Sql {
    return sql`WITH gone AS (DELETE FROM open_runs WHERE ${condition} RETURNING *, ${this.nowMs}::bigint AS now_ms),
        kept AS (${raw(keepCancelled('now_ms'))})
      SELECT run, owner_id, runnable_id, awaited_by FROM gone`;
  }

  /** Locks in the order of the keys. Every run that is queued or waits has a queue. */
  lockQueues(of: readonly Listener[]): void {
    void this.#tx.query(
      `SELECT 1 FROM unnest($1::text[], $2::text[]) AS u (o, i)
        JOIN listener_queues AS l ON l.owner_id = u.o AND l.listener_id = u.i
        WHERE l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])
        ORDER BY l.owner_id, l.listener_id FOR UPDATE OF l`,
      ...literalsOf([...new Map(of.map((listener) => [listener.id, listener])).values()]),
    );
  }

  moved(runs: readonly Row[], { from, to }: { from: RunState; to: RunState }): void {
    const waiting = Number(to === 'queued') - Number(from === 'queued');
    const listeners = runs.map((row) => ({ ownerId: text(row, 'owner_id'), id: text(row, 'runnable_id') }));
    if (waiting !== 0) this.#countWaiting(listeners, waiting);
    for (const { ownerId } of listeners) this.ledger.moved(ownerId, 'runs', { from, to });
    if (to === 'queued' && runs.length > 0) this.notified.add('runs');
    const others = runs.map((row) => numberOrNull(row, 'awaited_by')).filter((node) => node !== this.#core.node.id);
    if (others.some((node) => node !== null)) this.notified.add('answers');
  }

  /** Counts what waits. The time at which a throttled queue is ready does not change. */
  #countWaiting(of: readonly Listener[], by: number): void {
    if (of.length === 0) return;
    void this.#tx.query(
      `UPDATE listener_queues AS l SET waiting = l.waiting + u.n,
          ready_at_ms = CASE WHEN l.waiting + u.n > 0 THEN coalesce(l.ready_at_ms, 0) END
        FROM (SELECT o, i, sum($3::int) AS n FROM unnest($1::text[], $2::text[]) AS given (o, i) GROUP BY o, i) AS u
        WHERE l.owner_id = u.o AND l.listener_id = u.i AND l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])`,
      ...literalsOf(of),
      by,
    );
  }
}

/** Returns owners and ids, each as one parameter. */
function literalsOf(of: readonly Listener[]): [owners: string, ids: string] {
  return [arrayLiteral(of.map(({ ownerId }) => ownerId)), arrayLiteral(of.map(({ id }) => id))];
}
