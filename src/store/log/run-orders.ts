// Ends of waits and cancellations of runs, for both backends; statements that differ are in `<backend>/runs/run-orders.ts`.
//
// A run that waits is only a row; when its wait ends, it is queued like every other run. On Postgres a run may change between
// the statement that finds it and the one that changes it, so the second statement repeats the conditions.

import type { RunState } from '../../domain/run/run.ts';
import type { EarlyOrder, WaitKind } from '../../domain/run/wait.ts';
import type { Listener } from '../config/config-database.ts';
import { differs, isAmongNumbers, NO_KEY, type Sql, sql } from '../config/sql.ts';
import { all, get, type Steps, together } from '../config/steps.ts';
import { StoreUnavailable } from '../contract/unavailable.ts';
import type { WaitOf, WaitStore } from '../contract/waits.ts';
import { flag, number, text, textOrNull } from '../rows/cells.ts';
import type { Row } from '../rows/rows.ts';
import { OPEN_RUNS } from './log-tables.ts';

/** What a backend offers the orders within their transaction. */
export interface RunOrders {
  readonly nowMs: number;
  /** An assignment to the row of a running run: its owner has cancelled it. */
  readonly stopped: Sql;
  /** Selects waits that are due, the longest due first, and as `found` their number, up to `limit`. */
  due(limit: number): Sql;
  /** Cancels the queued and waiting runs that meet a condition. */
  cancelled(condition: Sql): Sql;
  /** Locks queues: until the transaction is over, no other one claims, queues or ends runs that wait there. */
  lockQueues(of: readonly Listener[]): void;
  /** Counts changes of state in the queues and the ledger, and wakes claims and callers after the commit. */
  moved(runs: readonly Row[], states: { readonly from: RunState; readonly to: RunState }): void;
}

/** The run has changed between two statements: the caller looks at it again. */
export const CHANGED = 'changed';

/** How often a run is looked at that keeps changing. */
const MAX_LOOKS = 20;

export async function untilUnchanged<T>(run: number, look: () => Promise<T | typeof CHANGED>): Promise<T> {
  for (let looks = 1; looks <= MAX_LOOKS; looks++) {
    const answer = await look();
    if (answer !== CHANGED) return answer;
  }
  throw new StoreUnavailable(`run ${run} changes all the time`);
}

interface ListedRun extends Listener {
  readonly state: RunState;
  readonly waits: number;
  readonly waitKind: WaitKind | null;
  /** An earlier order resumes or cancels it. */
  readonly isOrdered: boolean;
}

const EVERY_RUN = differs({
  sqlite: '(SELECT *, early IS NOT NULL AS is_ordered FROM runs)',
  postgres: `(SELECT run, owner_id, runnable_id, state, waits, wait_kind, early IS NOT NULL OR cancel_asked AS is_ordered
      FROM open_runs
    UNION ALL SELECT run, owner_id, runnable_id, state, 0, NULL, false FROM runs)`,
});
const NOT_STOPPED = differs({ sqlite: '', postgres: 'AND NOT cancel_asked' });
const AWAITED_BY = differs({ sqlite: 'NULL AS awaited_by', postgres: 'awaited_by' });

function* find(run: number): Steps<ListedRun | undefined> {
  const row = yield* get(
    sql`SELECT owner_id, runnable_id, state, waits, wait_kind, is_ordered FROM ${EVERY_RUN} AS every WHERE run = ${run}`,
  );
  return (
    row && {
      ownerId: text(row, 'owner_id'),
      id: text(row, 'runnable_id'),
      state: text<RunState>(row, 'state'),
      waits: number(row, 'waits'),
      waitKind: textOrNull<WaitKind>(row, 'wait_kind'),
      isOrdered: flag(row, 'is_ordered'),
    }
  );
}

/**
 * Implements RunStore.cancelRun. A running run that begins to wait or is queued again, before its process is notified, is
 * cancelled then.
 */
export function* cancelRun(
  orders: RunOrders,
  { ownerId, run }: { readonly ownerId: string; readonly run: number },
): Steps<RunState | undefined | typeof CHANGED> {
  const found = yield* find(run);
  if (found?.ownerId !== ownerId) return undefined;
  const { state } = found;
  if (state === 'running') {
    const stopped = sql`UPDATE ${OPEN_RUNS} SET ${orders.stopped} WHERE run = ${run} AND state = 'running' RETURNING run`;
    return (yield* get(stopped)) ? state : CHANGED;
  }
  if (state !== 'queued' && state !== 'waiting') return state;
  orders.lockQueues([found]);
  const cancelled = yield* all(orders.cancelled(sql`run = ${run} AND state = ${state}`));
  if (cancelled.length === 0) return CHANGED;
  orders.moved(cancelled, { from: state, to: 'cancelled' });
  return 'cancelled';
}

/** Implements WaitStore.resumeRun. */
export function* resumeRun(
  orders: RunOrders,
  { run, waits }: WaitOf,
  early: EarlyOrder,
): Steps<'taken' | 'over' | undefined | typeof CHANGED> {
  const found = yield* find(run);
  if (!found) return undefined;
  const { state } = found;
  if (state === 'waiting') {
    if (found.waits !== waits || found.waitKind === 'retry') return 'over';
    const to = early.order === 'cancel' ? 'cancelled' : 'queued';
    orders.lockQueues([found]);
    const still = sql`run = ${run} AND state = 'waiting' AND waits = ${waits} AND wait_kind <> 'retry'`;
    const ended = yield* all(
      to === 'cancelled' ? orders.cancelled(still) : queued(still, sql`, resumed = ${early.request}`),
    );
    if (ended.length === 0) return CHANGED;
    orders.moved(ended, { from: 'waiting', to });
    return 'taken';
  }
  const mayBegin = (state === 'running' || state === 'queued') && found.waits + 1 === waits;
  if (!mayBegin || found.isOrdered) return 'over';
  // Queued rows are changed under the lock of their queue only, and running ones never under it: the end of a run locks its
  // row before its queue.
  if (state === 'queued') orders.lockQueues([found]);
  const kept = yield* get(sql`UPDATE ${OPEN_RUNS} SET early = ${JSON.stringify(early)}
    WHERE run = ${run} AND waits = ${waits - 1} AND state = ${state} AND early IS NULL ${NOT_STOPPED} RETURNING run`);
  return kept ? 'taken' : CHANGED;
}

type EndedWaits = Awaited<ReturnType<WaitStore['endWaits']>>;

/** Implements WaitStore.endWaits. */
export function* endWaits(orders: RunOrders, limit: number): Steps<EndedWaits> {
  const due = yield* all(orders.due(limit));
  const [first] = due;
  if (!first) return { queued: 0, cancelled: [], isMore: false };
  orders.lockQueues(due.map((row) => ({ ownerId: text(row, 'owner_id'), id: text(row, 'runnable_id') })));
  const runs = due.map((row) => number(row, 'run'));
  // Checked again under the locks: another node or a request may have ended these waits, and the run may wait again by now. The
  // `+ 0` avoids the index of what is due: a plan made while little was due would read all that is due.
  const isDue = sql`run ${isAmongNumbers(runs)} AND ${NO_KEY}state = 'waiting' AND due_at_ms + 0 <= ${orders.nowMs}`;
  const [cancelled = [], again = []] = yield* together(
    // The transaction that deleted a workflow may not have seen a run that was about to wait.
    orders.cancelled(
      sql`${isDue} AND (wait_kind = 'suspend' OR NOT EXISTS (SELECT 1 FROM runnables AS r WHERE r.id = runnable_id))`,
    ),
    queued(isDue, sql``),
  );
  orders.moved(cancelled, { from: 'waiting', to: 'cancelled' });
  orders.moved(again, { from: 'waiting', to: 'queued' });
  const over = new Set(cancelled.map((row) => number(row, 'run')));
  const found = number(first, 'found');
  return {
    queued: again.length,
    cancelled: runs.filter((run) => over.has(run)),
    isMore: found === limit || due.length < found,
  };
}

/** Queues the waiting runs that meet a condition. */
function queued(condition: Sql, more: Sql): Sql {
  return sql`UPDATE ${OPEN_RUNS} SET state = 'queued', wait_kind = NULL, due_at_ms = NULL${more} WHERE ${condition}
    RETURNING run, owner_id, runnable_id, ${AWAITED_BY}`;
}
