// Runs that wait: by what their waits end. A row that waits is touched under its queue's lock only, as one that is queued;
// so of several nodes that end a wait at once, and of a request that meets them, one does. Beside the claims, with plans
// that stay right when many wait at once; a claim waits for the few milliseconds that a busy queue is locked.

import type { EarlyOrder } from '../../../domain/run/wait.ts';
import { StoreUnavailable } from '../../contract/store.ts';
import type { WaitOf, WaitStore } from '../../contract/waits.ts';
import { number, text } from '../../rows/cells.ts';
import { fitting, type Listener, lockQueue } from '../claims/queued-work.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { pairKey } from '../log/batch-needs.ts';
import { Ledger } from '../log/ledger.ts';
import { DETAIL_BYTES, KEEP_CANCELLED } from './cancel.ts';

/** Looks at a run that changes hands at the same moment. */
const MAX_LOOKS = 20;

export function waitVerbs(core: Core): Omit<WaitStore, 'waitingRun'> {
  return {
    endWaits: (limit) => endWaits(core, limit),
    resumeRun: (of, order, request) => resumeRun(core, { of, early: { order, request } }),
  };
}

interface EndedWaits {
  /** Rows of runs that are queued now, and of those that are over, the longest due first. */
  readonly queued: readonly Row[];
  readonly cancelled: readonly Row[];
  readonly isMore: boolean;
}

async function endWaits(core: Core, limit: number): ReturnType<WaitStore['endWaits']> {
  const { queued, cancelled, isMore } = await core.claims.transact((tx) => endDue(core, tx, limit));
  if (queued.length > 0) core.notices.tell('runs');
  if (cancelled.some((row) => isAwaitedElsewhere(core, row))) core.notices.tell('answers');
  return { queued: queued.length, cancelled: cancelled.map(({ run }) => run as number), isMore };
}

/** Not by the index of what is due: a plan that was made while little was would read all that is. */
const STILL_DUE = 'o.due_at_ms + 0 <= $1::bigint';

async function endDue(core: Core, tx: Tx, limit: number): Promise<EndedWaits> {
  // Never ahead of the database's clock.
  const nowMs = core.clock.nowMs();
  const due = await tx.query(
    `SELECT run, owner_id, runnable_id, found FROM (${fitting(`SELECT run, owner_id, runnable_id,
        row_number() OVER due AS place, count(*) OVER () AS found,
        CASE WHEN wait_kind = 'suspend' THEN ${DETAIL_BYTES} ELSE 0 END AS bytes
        FROM (SELECT run, owner_id, runnable_id, wait_kind, detail_so_far, due_at_ms FROM open_runs
          WHERE due_at_ms <= $1::bigint ORDER BY due_at_ms, run LIMIT $2::int) AS first
        WINDOW due AS (ORDER BY due_at_ms, run)`)}) AS due ORDER BY place`,
    nowMs,
    limit,
  );
  if (due.length === 0) return { queued: [], cancelled: [], isMore: false };
  const gone = await lockQueues(tx, due);
  const runs = arrayLiteral(due.map(({ run }) => run as number));
  // Looked at again with the locks: another node may have ended these waits, or a request, and the run wait again by now.
  const [cancelled, queued] = await Promise.all([
    tx.query(
      `WITH gone AS (DELETE FROM open_runs AS o WHERE o.run = ANY($2::bigint[]) AND ${STILL_DUE}
          AND (o.wait_kind = 'suspend' OR o.runnable_id = ANY($3::text[]))
          RETURNING *),
        kept AS (${KEEP_CANCELLED})
        SELECT run, owner_id, awaited_by FROM gone`,
      nowMs,
      runs,
      arrayLiteral(gone),
    ),
    tx.query(
      `UPDATE open_runs AS o SET state = 'queued', wait_kind = NULL, due_at_ms = NULL
        WHERE o.run = ANY($2::bigint[]) AND ${STILL_DUE} RETURNING run, owner_id, runnable_id`,
      nowMs,
      runs,
    ),
  ]);
  addToQueues(tx, queued);
  const ledger = new Ledger();
  for (const row of cancelled) ledger.moved(text(row, 'owner_id'), 'runs', { from: 'waiting', to: 'cancelled' });
  for (const row of queued) ledger.moved(text(row, 'owner_id'), 'runs', { from: 'waiting', to: 'queued' });
  ledger.write(tx, core.node.slot);
  const places = new Map(due.map(({ run }, place) => [run, place]));
  const placeOf = ({ run }: Row): number => places.get(run as number) as number;
  cancelled.sort((a, b) => placeOf(a) - placeOf(b));
  const found = due[0]?.found as number;
  return { queued, cancelled, isMore: found === limit || due.length < found };
}

interface Pairs {
  readonly owners: string;
  readonly listeners: string;
  readonly counts: string;
}

/** Of runs' rows, each queue once. */
function pairsOf(rows: readonly Row[]): Pairs {
  const groups = [...Map.groupBy(rows, (row) => pairKey(text(row, 'owner_id'), text(row, 'runnable_id'))).values()];
  return {
    owners: arrayLiteral(groups.map(([row]) => row?.owner_id as string)),
    listeners: arrayLiteral(groups.map(([row]) => row?.runnable_id as string)),
    counts: arrayLiteral(groups.map(({ length }) => length)),
  };
}

/**
 * In the order of their keys, as everybody does. Who waits has run before, so its queue is there. Returns workflows that are
 * not: the one transaction did not see the other.
 */
async function lockQueues(tx: Tx, rows: readonly Row[]): Promise<string[]> {
  const { owners, listeners } = pairsOf(rows);
  void tx.query(
    `SELECT 1 FROM unnest($1::text[], $2::text[]) AS u (o, i)
      JOIN listener_queues AS l ON l.owner_id = u.o AND l.listener_id = u.i
      WHERE l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])
      ORDER BY l.owner_id, l.listener_id FOR UPDATE OF l`,
    owners,
    listeners,
  );
  const there = await tx.query('SELECT id FROM runnables WHERE id = ANY($1::text[])', listeners);
  const isThere = new Set(there.map(({ id }) => id));
  return [...new Set(rows.map((row) => text(row, 'runnable_id')))].filter((id) => !isThere.has(id));
}

/** A throttled one stays ready when it was. */
function addToQueues(tx: Tx, queued: readonly Row[]): void {
  if (queued.length === 0) return;
  const { owners, listeners, counts } = pairsOf(queued);
  void tx.query(
    `UPDATE listener_queues AS l SET waiting = l.waiting + u.n, ready_at_ms = coalesce(l.ready_at_ms, 0)
      FROM unnest($1::text[], $2::text[], $3::int[]) AS u (o, i, n)
      WHERE l.owner_id = u.o AND l.listener_id = u.i AND l.owner_id = ANY($1::text[]) AND l.listener_id = ANY($2::text[])`,
    owners,
    listeners,
    counts,
  );
}

interface Ordered {
  readonly of: WaitOf;
  readonly early: EarlyOrder;
}

interface Looked {
  readonly answer: 'taken' | 'over' | undefined;
  /** It changed hands between two statements. */
  readonly isStale?: boolean;
  /** Of a run that is queued, or over, from now on. */
  readonly ended?: Row;
}

async function resumeRun(core: Core, ordered: Ordered): Promise<'taken' | 'over' | undefined> {
  for (let looks = 1; looks <= MAX_LOOKS; looks++) {
    const { answer, isStale, ended } = await core.claims.transact((tx) => resumeIn(core, tx, ordered));
    if (isStale) continue;
    if (ended && ordered.early.order === 'resume') core.notices.tell('runs');
    if (ended && isAwaitedElsewhere(core, ended)) core.notices.tell('answers');
    return answer;
  }
  throw new StoreUnavailable(`run ${ordered.of.run} changes all the time`);
}

async function resumeIn(core: Core, tx: Tx, ordered: Ordered): Promise<Looked> {
  const { run, waits } = ordered.of;
  const [row] = await tx.query(
    `SELECT owner_id, runnable_id, state, waits, wait_kind, early IS NOT NULL OR cancel_asked AS is_ordered
      FROM open_runs WHERE run = $1`,
    run,
  );
  if (!row) {
    const over = await tx.query('SELECT 1 FROM runs WHERE run = $1', run);
    return { answer: over.length === 0 ? undefined : 'over' };
  }
  if (row.state === 'waiting') {
    if (row.waits !== waits || row.wait_kind === 'retry') return { answer: 'over' };
    return endNow(core, tx, { row, ordered });
  }
  if (number(row, 'waits') + 1 !== waits || row.is_ordered === true) return { answer: 'over' };
  // Queued rows are touched under their queue's lock only, and running ones never under it: see cancel.ts.
  if (row.state === 'queued') lockQueue(tx, listenerOf(row));
  const kept = await tx.query(
    `UPDATE open_runs SET early = $3 WHERE run = $1 AND waits = $2::int - 1 AND state = $4 AND early IS NULL
      AND NOT cancel_asked RETURNING run`,
    run,
    waits,
    JSON.stringify(ordered.early),
    text(row, 'state'),
  );
  return kept.length === 0 ? { answer: 'over', isStale: true } : { answer: 'taken' };
}

async function endNow(core: Core, tx: Tx, { row, ordered }: { row: Row; ordered: Ordered }): Promise<Looked> {
  const { order } = ordered.early;
  lockQueue(tx, listenerOf(row));
  const [ended] = order === 'cancel' ? await cancelWait(core, tx, ordered) : await queue(tx, ordered);
  if (!ended) return { answer: 'over', isStale: true };
  const ledger = new Ledger();
  const to = order === 'cancel' ? 'cancelled' : 'queued';
  ledger.moved(text(row, 'owner_id'), 'runs', { from: 'waiting', to });
  ledger.write(tx, core.node.slot);
  return { answer: 'taken', ended };
}

/** As it was looked at: of that wait, and no retry. */
const STILL_WAITS = `run = $2 AND state = 'waiting' AND waits = $3::int AND wait_kind <> 'retry'`;

function cancelWait(core: Core, tx: Tx, { of }: Ordered): Promise<Row[]> {
  return tx.query(
    `WITH gone AS (DELETE FROM open_runs WHERE ${STILL_WAITS} RETURNING *), kept AS (${KEEP_CANCELLED})
      SELECT run, awaited_by FROM gone`,
    core.clock.nowMs(),
    of.run,
    of.waits,
  );
}

async function queue(tx: Tx, { of, early }: Ordered): Promise<Row[]> {
  const queued = await tx.query(
    `UPDATE open_runs SET state = 'queued', wait_kind = NULL, due_at_ms = NULL, resumed = $1
      WHERE ${STILL_WAITS} RETURNING run, owner_id, runnable_id, awaited_by`,
    early.request,
    of.run,
    of.waits,
  );
  addToQueues(tx, queued);
  return queued;
}

function listenerOf(row: Row): Listener {
  return { ownerId: text(row, 'owner_id'), id: text(row, 'runnable_id') };
}

function isAwaitedElsewhere(core: Core, row: Row): boolean {
  return row.awaited_by !== null && row.awaited_by !== core.node.id;
}
