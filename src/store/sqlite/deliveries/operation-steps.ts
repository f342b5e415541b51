// The steps of operations. Each looks at a bounded number of deliveries, and the row of the operation remembers in the same
// transaction up to which one: so an operation goes on where it stood, whenever the process is killed.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { countNext, firstNumberOf, resendNext } from '../../../domain/operation.ts';
import type { Webhook } from '../../../domain/resource.ts';
import { number, text } from '../../rows/cells.ts';
import { cursorOf, GONE } from '../../rows/operation-rows.ts';
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

export function stepOperation(core: Core, tx: Transaction): Step {
  const running = core.writer.all(
    "SELECT * FROM operations WHERE state = 'running' ORDER BY turn, id LIMIT ?",
    MAX_CONSIDERED,
  );
  for (const row of running) {
    const webhookId = text(row, 'webhook_id');
    const webhook = core.routes.webhook(webhookId);
    if (!webhook) {
      cancelOperations(core, tx, webhookId);
      return { isResent: false, isMore: true };
    }
    if (row.is_counted === 0) return count(core, tx, row);
    const room = roomFor(core, webhook);
    if (room > 0) return resend(core, tx, { row, room });
  }
  if (running.length === MAX_CONSIDERED) toTheEnd(core, tx, running);
  return { isResent: false, isMore: false };
}

/** All of them wait for something else: those behind them are considered next. */
function toTheEnd(core: Core, tx: Transaction, waiting: readonly Row[]): void {
  for (const row of waiting) {
    core.writer.run('UPDATE operations SET turn = ? WHERE id = ?', tx.number(), text(row, 'id'));
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

/** How many it may send again now: none while its webhook is not active. */
function roomFor(core: Core, webhook: Webhook): number {
  if (!webhook.active) return 0;
  const waiting = core.writer.get(
    `SELECT count(*) AS n FROM (SELECT 1 FROM deliveries WHERE listener_id = ? AND state = 'retrying'
      AND due_by = 'resend' LIMIT ${LIMITS.resendsWaiting})`,
    webhook.id,
  );
  return LIMITS.resendsWaiting - (waiting?.n as number);
}

function count(core: Core, tx: Transaction, row: Row): Step {
  const { matched, isCounted, after } = countNext(cursorOf(row), nextOf(core, row));
  write(core, tx, row, { total: number(row, 'total') + matched, isCounted, after });
  return { isResent: false, isMore: true };
}

function resend(core: Core, tx: Transaction, { row, room }: { row: Row; room: number }): Step {
  const { chosen, after, isDone } = resendNext(cursorOf(row), nextOf(core, row), { room });
  for (const { row: delivery } of chosen) sendAgain(core, tx, delivery);
  write(core, tx, row, { resent: number(row, 'resent') + chosen.length, after, isDone });
  return { isResent: chosen.length > 0, isMore: true };
}

/** Those behind its cursor, in whatever state. */
function nextOf(core: Core, row: Row): { row: Row; delivery: number; state: DeliveryState }[] {
  const found = core.writer.all(
    `SELECT ${SENT_AGAIN} FROM deliveries WHERE owner_id = ? AND listener_id = ? AND delivery > ? AND delivery < ?
      ORDER BY delivery LIMIT ${LIMITS.operationStep}`,
    text(row, 'owner_id'),
    text(row, 'webhook_id'),
    number(row, 'after_delivery'),
    firstNumberOf(number(row, 'until_ms')),
  );
  return found.map((one) => ({
    row: one,
    delivery: number(one, 'delivery'),
    state: text<DeliveryState>(one, 'state'),
  }));
}

interface Progress {
  readonly total?: number;
  readonly isCounted?: boolean;
  readonly resent?: number;
  readonly after: number;
  readonly isDone?: boolean;
}

function write(core: Core, tx: Transaction, row: Row, progress: Progress): void {
  const { total = number(row, 'total'), resent = number(row, 'resent'), after, isDone = false } = progress;
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
    text(row, 'id'),
  );
}
