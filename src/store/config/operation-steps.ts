// The steps of operations, which resend a webhook's deliveries or replay errors (replay-steps.ts). A step is one transaction: it locks one operation that no
// other process steps, reads the next deliveries behind its cursor, and writes their changes together with the new cursor.
// So processes share the work, and none of it is done twice or lost when a process is killed.
//
// Locks are taken in this order: the operation, the events of the deliveries, the webhook's queue.

import type { DeliveryState } from '../../domain/delivery/delivery.ts';
import { LIMITS } from '../../domain/limits.ts';
import { countNext, firstNumberOf, meant, resendNext } from '../../domain/operation.ts';
import type { Stepped } from '../contract/operations.ts';
import { ALL_DELIVERIES, OPEN_DELIVERIES } from '../log/log-tables.ts';
import { flag, number, text } from '../rows/cells.ts';
import { cursorOf, GONE } from '../rows/operation-rows.ts';
import type { Row } from '../rows/rows.ts';
import type { Writing } from './config-database.ts';
import { REPLAY_HAS_STEP, stepReplay } from './replay-steps.ts';
import { differs, raw, type Sql, sql, tableOf } from './sql.ts';
import { all, get, type Steps, send, together, work } from './steps.ts';

const NOTHING: Stepped = { isResent: false, isMore: false };
const MORE: Stepped = { isResent: false, isMore: true };

const OF_OWNER = differs({ sqlite: '', postgres: 'd.owner_id = o.owner_id AND' });

/** Counts resent deliveries that wait, of `operations AS o`, up to LIMITS.resendsWaiting. */
const WAITING = sql`(SELECT count(*) FROM (SELECT 1 FROM ${OPEN_DELIVERIES} AS d
    WHERE ${OF_OWNER} d.listener_id = o.webhook_id AND d.state = 'retrying' AND d.due_by = 'resend'
    LIMIT ${raw(String(LIMITS.resendsWaiting))}) AS waiting)`;

/** Selects the operation that was stepped longest ago, among those that can go on now. */
const NEXT = sql`SELECT o.*, w.id IS NOT NULL AS has_webhook
  FROM operations AS o LEFT JOIN webhooks AS w ON w.id = o.webhook_id
  WHERE (o.state = 'running' OR o.under_way > 0) AND (o.kind = 'replay' AND ${REPLAY_HAS_STEP}
    OR o.kind = 'resend' AND (NOT o.is_counted OR w.id IS NULL
      OR (w.active AND ${WAITING} < ${raw(String(LIMITS.resendsWaiting))})))
  ORDER BY o.turn, o.id LIMIT 1 ${differs({ sqlite: '', postgres: 'FOR UPDATE OF o SKIP LOCKED' })}`;

/** Implements OperationStore.stepOperation. */
export function* stepOperation(w: Writing): Steps<Stepped> {
  const row = yield* get(NEXT);
  if (!row) return NOTHING;
  if (text(row, 'kind') === 'replay') {
    return (yield* stepReplay(w, row)) ? { ...MORE, isResolved: true } : MORE;
  }
  if (!flag(row, 'has_webhook')) {
    yield* cancelOperations(text(row, 'webhook_id'), w.nowMs);
    return MORE;
  }
  return yield* flag(row, 'is_counted') ? sendStep(w, row) : countStep(w, row);
}

/** Cancels the operations of a webhook that was deleted. */
export function* cancelOperations(webhookId: string, nowMs: number): Steps<void> {
  yield* send(sql`UPDATE operations SET state = 'cancelled', reason = ${GONE}, updated_at_ms = ${nowMs}, ended_at_ms = ${nowMs}
    WHERE webhook_id = ${webhookId} AND state IN ('running', 'paused')`);
}

interface DeliveryRow {
  readonly delivery: number;
  readonly entry: number;
  readonly state: DeliveryState;
}

/** Returns the next deliveries of the webhook, in any state. */
function* look(row: Row): Steps<DeliveryRow[]> {
  const rows = yield* all(sql`SELECT delivery, entry, state FROM ${ALL_DELIVERIES}
    WHERE owner_id = ${text(row, 'owner_id')} AND listener_id = ${text(row, 'webhook_id')}
      AND delivery > ${number(row, 'after_number')} AND delivery < ${firstNumberOf(number(row, 'until_ms'))}
    ORDER BY delivery LIMIT ${LIMITS.operationStep}`);
  return rows.map((one) => ({
    delivery: number(one, 'delivery'),
    entry: number(one, 'entry'),
    state: text<DeliveryState>(one, 'state'),
  }));
}

function* countStep(w: Writing, row: Row): Steps<Stepped> {
  const { matched, isCounted, after } = countNext(cursorOf(row), yield* look(row));
  yield* send(sql`UPDATE operations SET total = total + ${matched}, is_counted = ${isCounted}, after_number = ${after},
      updated_at_ms = ${w.nowMs}, turn = ${w.nextTurn()} WHERE id = ${text(row, 'id')}`);
  return MORE;
}

function* sendStep(w: Writing, row: Row): Steps<Stepped> {
  const id = text(row, 'id');
  const cursor = cursorOf(row);
  const looked = yield* look(row);
  const events = yield* all(lockedOf(meant(cursor, looked)));
  const queue = yield* work(() => w.lockDeliveries({ ownerId: text(row, 'owner_id'), id: text(row, 'webhook_id') }));
  const [[webhook]] = (yield* together(sql`SELECT ${WAITING} AS waiting
    FROM operations AS o JOIN webhooks AS w ON w.id = o.webhook_id WHERE o.id = ${id} AND w.active`)) as [[Row?]];
  // The webhook was disabled or deleted since then: the next step finds out which.
  if (!queue || !webhook) return MORE;
  const kept = new Set(events.map((event) => number(event, 'entry')));
  const room = LIMITS.resendsWaiting - number(webhook, 'waiting');
  const next = resendNext(cursor, looked, { room, isThere: ({ entry }) => kept.has(entry) });
  const deliveries = next.chosen.map(({ delivery }) => delivery);
  const resent = deliveries.length === 0 ? 0 : yield* work(() => queue.sendAgain(deliveries, cursor.states));
  const [state, endedAtMs] = next.isDone ? ['done', w.nowMs] : ['running', null];
  yield* send(sql`UPDATE operations SET resent = resent + ${resent}, after_number = ${next.after}, state = ${state},
      ended_at_ms = ${endedAtMs}, updated_at_ms = ${w.nowMs}, turn = ${w.nextTurn()} WHERE id = ${id}`);
  return { isResent: resent > 0, isMore: true };
}

/** Locks the events of deliveries against retention, and selects those that it is not deleting at this moment. */
function lockedOf(deliveries: readonly DeliveryRow[]): Sql {
  const rows = deliveries.map(({ entry }) => ({ entry }));
  return sql`SELECT e.entry FROM ${tableOf({ entry: 'bigint' }, rows)} JOIN emissions AS e ON e.entry = given.entry
    ORDER BY e.entry ${differs({ sqlite: '', postgres: 'FOR KEY SHARE OF e SKIP LOCKED' })}`;
}
