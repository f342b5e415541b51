// One step of one operation. See operations.ts.

import { NUMBERS_PER_MS } from '../../../domain/ids.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { lockLine, readLine } from '../claims/queued-work.ts';
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

const TURN = `(SELECT coalesce(max(turn), 0) + 1 FROM operations WHERE state = 'running')`;

/** See OperationStore. */
export async function stepOperation(core: Core): Promise<Stepped> {
  const stepped = await core.config.transact((tx) => stepIn(core, tx));
  if (stepped.isResent) core.notices.tell('deliveries');
  return stepped;
}

async function stepIn(core: Core, tx: Tx): Promise<Stepped> {
  const [row] = await tx.query(NEXT);
  if (!row) return NOTHING;
  const nowMs = core.clock.heard(row.now_ms as number, tx.beganAt);
  if (row.has_webhook !== true) {
    cancelOperationsOf(tx, { webhookId: row.webhook_id as string, nowMs });
    return MORE;
  }
  return row.is_counted === true ? sendStep(core, tx, { row, nowMs }) : countStep(tx, { row, nowMs });
}

/** The lowest number of that moment, or of the end of all times. */
export function firstOf(ms: number): number {
  return Math.min(ms * NUMBERS_PER_MS, Number.MAX_SAFE_INTEGER);
}

interface Step {
  readonly row: Row;
  readonly nowMs: number;
}

/** The next deliveries of the webhook, whatever their state. */
async function look(tx: Tx, row: Row): Promise<Row[]> {
  const part = (table: string): string =>
    `(SELECT delivery, entry, state FROM ${table}
      WHERE owner_id = $1 AND listener_id = $2 AND delivery > $3::bigint AND delivery < $4::bigint
      ORDER BY delivery LIMIT ${LIMITS.operationStep})`;
  return tx.query(
    `SELECT * FROM (${part('open_deliveries')} UNION ALL ${part('deliveries')}) AS next
      ORDER BY delivery LIMIT ${LIMITS.operationStep}`,
    row.owner_id as string,
    row.webhook_id as string,
    row.after_delivery as number,
    firstOf(row.until_ms as number),
  );
}

function matching(row: Row, looked: readonly Row[]): Row[] {
  const states = (row.states as string).split(' ');
  return looked.filter(({ state }) => states.includes(state as string));
}

async function countStep(tx: Tx, { row, nowMs }: Step): Promise<Stepped> {
  const looked = await look(tx, row);
  const isCounted = looked.length < LIMITS.operationStep;
  const last = looked.at(-1)?.delivery ?? row.after_delivery;
  void tx.query(
    `UPDATE operations SET total = total + $2::int, is_counted = $3, after_delivery = $4::bigint, updated_at_ms = $5::bigint,
      turn = ${TURN} WHERE id = $1`,
    row.id as string,
    matching(row, looked).length,
    isCounted,
    isCounted ? firstOf(row.since_ms as number) - 1 : (last as number),
    nowMs,
  );
  return MORE;
}

async function sendStep(core: Core, tx: Tx, { row, nowMs }: Step): Promise<Stepped> {
  const looked = await look(tx, row);
  const wanted = matching(row, looked);
  const events = await tx.query(
    'SELECT entry FROM emissions WHERE entry = ANY($1::bigint[]) ORDER BY entry FOR KEY SHARE SKIP LOCKED',
    arrayLiteral(wanted.map(({ entry }) => entry as number)),
  );
  const listener = { ownerId: row.owner_id as string, id: row.webhook_id as string };
  lockLine(tx, listener);
  const [line, [stand]] = await Promise.all([
    readLine(tx, listener),
    tx.query(
      `SELECT ${WAITING} AS waiting FROM operations AS o JOIN webhooks AS w ON w.id = o.webhook_id
        WHERE o.id = $1 AND w.active`,
      row.id as string,
    ),
  ]);
  // Disabled or deleted since it was looked at: the next look tells which.
  if (!line || !stand) return MORE;
  const isThere = new Set(events.map(({ entry }) => entry));
  const there = wanted.filter(({ entry }) => isThere.has(entry)).map(({ delivery }) => delivery as number);
  const chosen = there.slice(0, LIMITS.resendsWaiting - (stand.waiting as number));
  const isFull = chosen.length < there.length;
  const after = isFull ? (chosen.at(-1) ?? row.after_delivery) : (looked.at(-1)?.delivery ?? row.after_delivery);
  const isDone = !isFull && looked.length < LIMITS.operationStep;
  const states = (row.states as string).split(' ');
  const resent = chosen.length === 0 ? 0 : await sendAgain(core, tx, { line, deliveries: chosen, states, nowMs });
  void tx.query(
    `UPDATE operations SET resent = resent + $2::int, after_delivery = $3::bigint, updated_at_ms = $4::bigint,
      state = $5, ended_at_ms = $6::bigint, turn = ${TURN} WHERE id = $1`,
    row.id as string,
    resent,
    after as number,
    nowMs,
    isDone ? 'done' : 'running',
    isDone ? nowMs : null,
  );
  return { isResent: resent > 0, isMore: true };
}
