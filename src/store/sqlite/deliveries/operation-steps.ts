// The steps of operations. Each looks at a bounded number of deliveries, and the row of the operation remembers in the same
// transaction up to which one: so an operation goes on where it stood, whenever the process is killed.

import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { GONE, INACTIVE } from '../../rows/operation-rows.ts';
import type { Core } from '../core.ts';
import type { Row } from '../database.ts';
import type { Transaction } from '../log/transaction.ts';
import { SENT_AGAIN, sendAgain } from './resend.ts';

/** Running ones that one step considers: most of them only wait. */
const MAX_CONSIDERED = 1000;

interface Step {
  readonly isResent: boolean;
  readonly isMore: boolean;
}

/** The cursor in front of the first delivery that was accepted from then on. */
export function beforeFirst(sinceMs: number): number {
  return sinceMs * NUMBERS_PER_MS - 1;
}

export function stepOperation(core: Core, tx: Transaction): Step {
  const running = core.writer.all(
    "SELECT * FROM operations WHERE state = 'running' ORDER BY turn, id LIMIT ?",
    MAX_CONSIDERED,
  );
  for (const row of running) {
    const webhookId = row.webhook_id as string;
    if (!core.routes.webhook(webhookId)) {
      cancelOperations(core, tx, webhookId);
      return { isResent: false, isMore: true };
    }
    if (row.is_counted === 0) return count(core, tx, row);
    const room = roomFor(core, tx, row);
    if (room > 0) return resend(core, tx, { row, room });
  }
  if (running.length === MAX_CONSIDERED) toTheEnd(core, tx, running);
  return { isResent: false, isMore: false };
}

/** All of them wait for something else: those behind them are considered next. */
function toTheEnd(core: Core, tx: Transaction, waiting: readonly Row[]): void {
  for (const row of waiting) {
    core.writer.run('UPDATE operations SET turn = ? WHERE id = ?', tx.number(), row.id as string);
  }
}

/** Their webhook was deleted. */
export function cancelOperations(core: Core, tx: Transaction, webhookId: string): void {
  core.writer.run(
    `UPDATE operations SET state = 'cancelled', reason = ?, updated_at_ms = ?, ended_at_ms = ?
      WHERE webhook_id = ? AND state IN ('running', 'paused')`,
    GONE,
    tx.nowMs,
    tx.nowMs,
    webhookId,
  );
}

/** How many it may send again now. */
function roomFor(core: Core, tx: Transaction, row: Row): number {
  const webhookId = row.webhook_id as string;
  const reason = core.routes.webhook(webhookId)?.active ? null : INACTIVE;
  if (reason !== row.reason) {
    core.writer.run(
      'UPDATE operations SET reason = ?, updated_at_ms = ? WHERE id = ?',
      reason,
      tx.nowMs,
      row.id as string,
    );
  }
  if (reason !== null) return 0;
  const waiting = core.writer.get(
    `SELECT count(*) AS n FROM (SELECT 1 FROM deliveries WHERE listener_id = ? AND state = 'retrying'
      AND due_by = 'resend' LIMIT ${LIMITS.resendsWaiting})`,
    webhookId,
  );
  return LIMITS.resendsWaiting - (waiting?.n as number);
}

function count(core: Core, tx: Transaction, row: Row): Step {
  const next = nextOf(core, row);
  const isCounted = next.length < LIMITS.operationStep;
  write(core, tx, row, {
    total: (row.total as number) + next.filter((one) => isMeant(row, one)).length,
    isCounted,
    after: isCounted ? beforeFirst(row.since_ms as number) : (next.at(-1)?.delivery as number),
  });
  return { isResent: false, isMore: true };
}

function resend(core: Core, tx: Transaction, { row, room }: { row: Row; room: number }): Step {
  const next = nextOf(core, row);
  let resent = 0;
  let passed = 0;
  for (const one of next) {
    if (resent === room) break;
    passed++;
    if (!isMeant(row, one)) continue;
    sendAgain(core, tx, one);
    resent++;
  }
  write(core, tx, row, {
    resent: (row.resent as number) + resent,
    after: (next[passed - 1]?.delivery ?? row.after_delivery) as number,
    isDone: passed === next.length && next.length < LIMITS.operationStep,
  });
  return { isResent: resent > 0, isMore: true };
}

/** Those behind its cursor, in whatever state. */
function nextOf(core: Core, row: Row): Row[] {
  const end = Math.min((row.until_ms as number) * NUMBERS_PER_MS, Number.MAX_SAFE_INTEGER);
  return core.writer.all(
    `SELECT ${SENT_AGAIN} FROM deliveries WHERE owner_id = ? AND listener_id = ? AND delivery > ? AND delivery < ?
      ORDER BY delivery LIMIT ${LIMITS.operationStep}`,
    row.owner_id as string,
    row.webhook_id as string,
    row.after_delivery as number,
    end,
  );
}

function isMeant(operation: Row, one: Row): boolean {
  return (operation.states as string).split(' ').includes(one.state as string);
}

interface Progress {
  readonly total?: number;
  readonly isCounted?: boolean;
  readonly resent?: number;
  readonly after: number;
  readonly isDone?: boolean;
}

function write(core: Core, tx: Transaction, row: Row, progress: Progress): void {
  const { total = row.total as number, resent = row.resent as number, after, isDone = false } = progress;
  const isCounted = progress.isCounted ?? row.is_counted === 1;
  core.writer.run(
    `UPDATE operations SET state = ?, total = ?, is_counted = ?, resent = ?, after_delivery = ?, turn = ?,
      updated_at_ms = ?, ended_at_ms = ? WHERE id = ?`,
    isDone ? 'done' : 'running',
    total,
    isCounted ? 1 : 0,
    resent,
    after,
    tx.number(),
    tx.nowMs,
    isDone ? tx.nowMs : null,
    row.id as string,
  );
}
