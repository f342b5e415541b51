// Compares counters with rows, and corrects those that differ.
//
// Every transaction changes rows and their counters together, so within one snapshot they agree. The comparison is one read-only
// transaction without locks. What differs is read again before it is changed:
// - a queue under its lock, without which no change of its rows is committed;
// - a figure of the ledger by its difference from the rows, which no transaction changes: it is taken from the snapshot of one
//   statement, and added to this node's own row. One node at a time does so.

import { MINUTE_MS } from '../../../domain/limits.ts';
import { OPEN_FACTS } from '../../check/checks.ts';
import type { CounterCheck, CounterStore, Repair } from '../../contract/counters.ts';
import { flag, number, numberOrNull, text } from '../../rows/cells.ts';
import type { ConnectionOptions } from '../connection/connection.ts';
import { DatabaseSession } from '../connection/database-session.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { ListenerQueue, QUEUE_COLUMNS, sendQueues, toQueueRow } from '../log/listener-queue.ts';
import { QUEUE_FAULTS, queuesAsRows } from './queue-rows.ts';

/** The most wrong queues of one comparison; the next one finds the rest. */
const QUEUES_PER_LOOK = 1000;
const QUEUES_PER_STEP = 100;
/** The time limit of a comparison; statements of its session have none. */
const LOOK_MS = 5 * MINUTE_MS;

const LEDGER_OPEN = [...OPEN_FACTS].map((fact) => `'${fact}'`).join(', ');

/** Facts of open states whose counters differ from the rows. */
const FIGURES = `SELECT owner_id, fact, coalesce(l.n, 0)::bigint AS counted, coalesce(r.n, 0)::bigint AS found
  FROM (SELECT owner_id, fact, sum(n) AS n FROM ledger WHERE fact IN (${LEDGER_OPEN}) GROUP BY owner_id, fact) AS l
  FULL JOIN (SELECT owner_id, 'runs.' || state AS fact, count(*) AS n FROM open_runs GROUP BY owner_id, state
    UNION ALL
    SELECT owner_id, 'deliveries.' || state, count(*) FROM open_deliveries GROUP BY owner_id, state) AS r
  USING (owner_id, fact) WHERE coalesce(l.n, 0) <> coalesce(r.n, 0)`;

const WRONG_QUEUES = `SELECT owner, listener FROM ${queuesAsRows()} WHERE ${QUEUE_FAULTS.map(({ is }) => is).join(' OR ')}
  ORDER BY owner, listener LIMIT ${QUEUES_PER_LOOK}`;

export function counterVerbs(core: Core, connection: ConnectionOptions): CounterStore {
  return {
    repairCounters: async (sinceMs) => {
      if (!(await isOurs(core, sinceMs))) return { isChecked: false, repairs: [] };
      try {
        return { isChecked: true, repairs: await lookAndRepair(core, connection) } satisfies CounterCheck;
      } catch (error) {
        await giveUp(core);
        throw error;
      }
    },
  };
}

/** Returns whether this node is to check, and marks that it does. A mark in the future means that the clock was set back. */
async function isOurs({ pool, clock }: Core, sinceMs: number): Promise<boolean> {
  const rows = await pool.write(
    `INSERT INTO meta AS m (name, value) VALUES ('counters_checked_at_ms', $1::bigint::text)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
        WHERE m.value::bigint < $2::bigint OR m.value::bigint > $1::bigint RETURNING value`,
    clock.nowMs(),
    sinceMs,
  );
  return rows.length > 0;
}

/** Deletes the mark, so that some node checks again soon. */
async function giveUp({ pool }: Core): Promise<void> {
  await pool.write("DELETE FROM meta WHERE name = 'counters_checked_at_ms'").catch(() => undefined);
}

async function lookAndRepair(core: Core, connection: ConnectionOptions): Promise<Repair[]> {
  const { queues, isLedgerWrong } = await look(connection);
  const repairs: Repair[] = [];
  for (let from = 0; from < queues.length; from += QUEUES_PER_STEP) {
    const step = queues.slice(from, from + QUEUES_PER_STEP);
    repairs.push(...(await core.config.transact((tx) => repairQueues(tx, step))));
  }
  if (isLedgerWrong) repairs.push(...(await core.config.transact((tx) => repairLedger(core, tx))));
  if (queues.length > 0) for (const channel of ['runs', 'deliveries'] as const) core.notices.tellAll(channel);
  return repairs;
}

interface WrongCounters {
  readonly queues: readonly Row[];
  readonly isLedgerWrong: boolean;
}

/** Opens a connection of its own for the comparison: its statements may take minutes, and those of the pool may not. */
async function look(connection: ConnectionOptions): Promise<WrongCounters> {
  const session = await DatabaseSession.open({ ...connection, name: 'errand counters' });
  const ask = async (): Promise<WrongCounters> => {
    await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const queues = await session.query(WRONG_QUEUES);
    const figures = await session.query(`${FIGURES} LIMIT 1`);
    return { queues, isLedgerWrong: figures.length > 0 };
  };
  // Closing the session rejects its statements.
  const limit = setTimeout(() => void session.close(), LOOK_MS);
  try {
    return await ask();
  } finally {
    clearTimeout(limit);
    await session.close();
  }
}

async function repairQueues(tx: Tx, wrong: readonly Row[]): Promise<Repair[]> {
  const owners = arrayLiteral(wrong.map((row) => text(row, 'owner')));
  const listeners = arrayLiteral(wrong.map((row) => text(row, 'listener')));
  const isRun = (row: Row): boolean => /^(p|dc)_/.test(text(row, 'listener'));
  void tx.query(
    `INSERT INTO listener_queues (owner_id, listener_id, is_run, waiting, taken)
      SELECT o, i, r, 0, 0 FROM unnest($1::text[], $2::text[], $3::boolean[]) AS u (o, i, r) ORDER BY o, i
      ON CONFLICT DO NOTHING`,
    owners,
    listeners,
    arrayLiteral(wrong.map(isRun)),
  );
  const locked = await tx.query(
    `SELECT ${QUEUE_COLUMNS}, l.is_run FROM unnest($1::text[], $2::text[]) AS u (o, i)
      JOIN listener_queues AS l ON l.owner_id = u.o AND l.listener_id = u.i ORDER BY l.owner_id, l.listener_id FOR UPDATE OF l`,
    owners,
    listeners,
  );
  // A new snapshot, taken under the locks.
  const counted = await tx.query(
    `SELECT owner, listener, waiting, taken, ready_at_ms IS NOT NULL AS is_ready, ready_at_ms > rows_ready_at_ms AS is_late,
        rows_waiting, rows_taken, rows_holder, starts IS NOT NULL AS is_throttled
      FROM ${queuesAsRows('$2')} JOIN unnest($1::text[], $2::text[]) AS u (o, i) ON owner = u.o AND listener = u.i`,
    owners,
    listeners,
  );
  const repairs: Repair[] = [];
  const changed: ListenerQueue[] = [];
  for (const row of locked) {
    const found = counted.find(({ owner, listener }) => owner === row.owner_id && listener === row.listener_id);
    const queue = new ListenerQueue(toQueueRow(row), flag(row, 'is_run'));
    const made = found ? repairQueue(queue, found) : [];
    if (made.length === 0) continue;
    repairs.push(...made);
    changed.push(queue);
  }
  sendQueues(tx, changed);
  return repairs;
}

/** Corrects a queue. Returns what was wrong, if anything still is. */
function repairQueue(queue: ListenerQueue, found: Row): Repair[] {
  const { ownerId, listenerId: of } = queue;
  const repairs: Repair[] = [];
  for (const kind of ['waiting', 'taken'] as const) {
    const rows = number(found, `rows_${kind}`);
    if (queue[kind] !== rows) repairs.push({ kind, ownerId, of, counted: queue[kind], found: rows });
  }
  const waits = number(found, 'rows_waiting') > 0;
  const isLate = found.is_late === true && found.is_throttled !== true;
  const isLost = !queue.isRun && number(found, 'rows_taken') > 0 && queue.holder === null;
  if (repairs.length === 0 && (found.is_ready !== waits || isLate || isLost)) {
    repairs.push({ kind: 'ready', ownerId, of, counted: Number(found.is_ready), found: Number(waits) });
  }
  if (repairs.length === 0) return [];
  const holder = numberOrNull(found, 'rows_holder');
  queue.recount({ waiting: number(found, 'rows_waiting'), taken: number(found, 'rows_taken'), holder });
  return repairs;
}

async function repairLedger(core: Core, tx: Tx): Promise<Repair[]> {
  // A separate statement: the next one must see what the last holder of the lock has added.
  await tx.query("SELECT pg_advisory_xact_lock(hashtext('errand counters'))");
  const rows = await tx.query(
    `WITH wrong AS (${FIGURES}),
      added AS (INSERT INTO ledger (owner_id, fact, slot, n)
        SELECT owner_id, fact, $1::smallint, found - counted FROM wrong ORDER BY owner_id, fact
        ON CONFLICT (owner_id, fact, slot) DO UPDATE SET n = ledger.n + excluded.n)
      SELECT owner_id, fact, counted, found FROM wrong`,
    core.node.slot,
  );
  return rows.map((row) => ({
    kind: 'ledger',
    ownerId: text(row, 'owner_id'),
    of: text(row, 'fact'),
    counted: number(row, 'counted'),
    found: number(row, 'found'),
  }));
}
