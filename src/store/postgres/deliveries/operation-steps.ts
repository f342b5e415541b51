// Operations, step by step: sending again what a webhook was sent. A step is one transaction: it locks one operation that
// no other node is at, looks at the next deliveries behind the last one that was looked at, and writes with what it did to
// them how far it has come. So nodes share the work, and none of it is done twice or lost, whichever of them is killed.
//
// Locks are taken in this order: the operation, the events of what is sent again, the webhook's queue.

import type { DeliveryState } from '../../../domain/delivery/delivery.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { countNext, firstNumberOf, meant, resendNext } from '../../../domain/operation.ts';
import { number, text } from '../../rows/cells.ts';
import { cursorOf } from '../../rows/operation-rows.ts';
import { lockQueue, readQueue } from '../claims/queued-work.ts';
import { NOW_SQL } from '../connection/clock.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import { arrayLiteral, type Row } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { cancelOperationsOf } from './operation-rows.ts';
import { sendAgain } from './resend.ts';

interface Stepped {
  readonly isResent: boolean;
  readonly isMore: boolean;
}

const NOTHING: Stepped = { isResent: false, isMore: false };
const MORE: Stepped = { isResent: false, isMore: true };

/** What waits because it was sent again, counted as far as it matters. Of `operations AS o`. */
const WAITING = `(SELECT count(*) FROM (SELECT 1 FROM open_deliveries AS d
    WHERE d.owner_id = o.owner_id AND d.listener_id = o.webhook_id AND d.due_by = 'resend' AND d.state = 'retrying'
    LIMIT ${LIMITS.resendsWaiting}) AS waiting)`;

/** The one that waited longest for its turn, of those that need not wait for something else. */
const NEXT = `SELECT o.*, w.id IS NOT NULL AS has_webhook, ${NOW_SQL} AS now_ms
  FROM operations AS o LEFT JOIN webhooks AS w ON w.id = o.webhook_id
  WHERE o.state = 'running' AND (NOT o.is_counted OR w.id IS NULL
    OR (w.active AND ${WAITING} < ${LIMITS.resendsWaiting}))
  ORDER BY o.turn, o.id LIMIT 1 FOR UPDATE OF o SKIP LOCKED`;

/** Behind all others that are running. */
export const NEXT_TURN = `(SELECT coalesce(max(turn), 0) + 1 FROM operations WHERE state = 'running')`;

/** See OperationStore. */
export async function stepOperation(core: Core): Promise<Stepped> {
  const stepped = await core.config.transact((tx) => stepIn(core, tx));
  if (stepped.isResent) core.notices.tell('deliveries');
  return stepped;
}

async function stepIn(core: Core, tx: Tx): Promise<Stepped> {
  const [row] = await tx.query(NEXT);
  if (!row) return NOTHING;
  const nowMs = core.clock.heard(number(row, 'now_ms'), tx.beganAt);
  if (row.has_webhook !== true) {
    cancelOperationsOf(tx, { webhookId: text(row, 'webhook_id'), nowMs });
    return MORE;
  }
  return row.is_counted === true ? sendStep(core, tx, { row, nowMs }) : countStep(tx, { row, nowMs });
}

interface Step {
  readonly row: Row;
  readonly nowMs: number;
}

interface Looked {
  readonly delivery: number;
  readonly entry: number;
  readonly state: DeliveryState;
}

/** The next deliveries of the webhook, whatever their state. */
async function look(tx: Tx, row: Row): Promise<Looked[]> {
  const part = (table: string): string =>
    `(SELECT delivery, entry, state FROM ${table}
      WHERE owner_id = $1 AND listener_id = $2 AND delivery > $3::bigint AND delivery < $4::bigint
      ORDER BY delivery LIMIT ${LIMITS.operationStep})`;
  const rows = await tx.query(
    `SELECT * FROM (${part('open_deliveries')} UNION ALL ${part('deliveries')}) AS next
      ORDER BY delivery LIMIT ${LIMITS.operationStep}`,
    text(row, 'owner_id'),
    text(row, 'webhook_id'),
    number(row, 'after_delivery'),
    firstNumberOf(number(row, 'until_ms')),
  );
  return rows as unknown as Looked[];
}

async function countStep(tx: Tx, { row, nowMs }: Step): Promise<Stepped> {
  const { matched, isCounted, after } = countNext(cursorOf(row), await look(tx, row));
  void tx.query(
    `UPDATE operations SET total = total + $2::int, is_counted = $3, after_delivery = $4::bigint, updated_at_ms = $5::bigint,
      turn = ${NEXT_TURN} WHERE id = $1`,
    text(row, 'id'),
    matched,
    isCounted,
    after,
    nowMs,
  );
  return MORE;
}

async function sendStep(core: Core, tx: Tx, { row, nowMs }: Step): Promise<Stepped> {
  const looked = await look(tx, row);
  const cursor = cursorOf(row);
  const events = await tx.query(
    'SELECT entry FROM emissions WHERE entry = ANY($1::bigint[]) ORDER BY entry FOR KEY SHARE SKIP LOCKED',
    arrayLiteral(meant(cursor, looked).map(({ entry }) => entry)),
  );
  const listener = { ownerId: text(row, 'owner_id'), id: text(row, 'webhook_id') };
  lockQueue(tx, listener);
  const [queue, [stand]] = await Promise.all([
    readQueue(tx, listener),
    tx.query(
      `SELECT ${WAITING} AS waiting FROM operations AS o JOIN webhooks AS w ON w.id = o.webhook_id
        WHERE o.id = $1 AND w.active`,
      text(row, 'id'),
    ),
  ]);
  // Disabled or deleted since it was looked at: the next look tells which.
  if (!queue || !stand) return MORE;
  const isThere = new Set(events.map(({ entry }) => entry));
  const room = LIMITS.resendsWaiting - (stand.waiting as number);
  const next = resendNext(cursor, looked, { room, isThere: ({ entry }) => isThere.has(entry) });
  const { after, isDone } = next;
  const deliveries = next.chosen.map(({ delivery }) => delivery);
  const again = { queue, deliveries, states: cursor.states, nowMs };
  const resent = deliveries.length === 0 ? 0 : await sendAgain(core, tx, again);
  void tx.query(
    `UPDATE operations SET resent = resent + $2::int, after_delivery = $3::bigint, updated_at_ms = $4::bigint,
      state = $5, ended_at_ms = $6::bigint, turn = ${NEXT_TURN} WHERE id = $1`,
    text(row, 'id'),
    resent,
    after,
    nowMs,
    isDone ? 'done' : 'running',
    isDone ? nowMs : null,
  );
  return { isResent: resent > 0, isMore: true };
}
