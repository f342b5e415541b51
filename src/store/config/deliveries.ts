// Reads deliveries, and sends one again. Postgres keeps deliveries that are over in a separate table: a list of one state
// reads only one of its tables.

import { type Attempt, type DeliveryKind, type DeliveryState, isWebhook } from '../../domain/delivery/delivery.ts';
import { type NotResendable, reasonAgainstResending } from '../../domain/delivery/progress.ts';
import { NOTICE } from '../../domain/emission.ts';
import { LIMITS } from '../../domain/limits.ts';
import { SUBJECT_BYTES } from '../../domain/notices/mail.ts';
import { firstNumberOf, RESENDABLE } from '../../domain/operation.ts';
import type { AttemptRecord, DeliveryWhole, QueuePosition } from '../contract/records.ts';
import type { DeliveryStore } from '../contract/store.ts';
import { ALL_DELIVERIES, OPEN_DELIVERIES } from '../log/log-tables.ts';
import { flag, json, number, numberOrNull, text, textOrNull } from '../rows/cells.ts';
import { OPEN_DELIVERY } from '../rows/delivery-rows.ts';
import { toDeliveryRecord } from '../rows/log-rows.ts';
import type { Row } from '../rows/rows.ts';
import { toWebhook } from '../rows/webhook-rows.ts';
import type { ConfigCore, Writing } from './config-database.ts';
import { readPage } from './pages.ts';
import { differs, NO_KEY, raw, type Sql, sql } from './sql.ts';
import { get, type Steps, together, work } from './steps.ts';

type DeliveryVerbs = Pick<DeliveryStore, 'listDeliveries' | 'getDelivery' | 'resendDelivery'>;

const LISTED = 'delivery, owner_id, kind, listener_id, subscription_id, entry, state, attempts_made, due_by';
/** SQLite would look through all deliveries of the owner or the webhook. */
const OPEN = differs({
  sqlite: 'deliveries AS d INDEXED BY deliveries_open',
  postgres: `(SELECT ${LISTED}, due_at_ms, NULL::bigint AS ended_at_ms FROM open_deliveries) AS d`,
});
const OVER = differs({
  sqlite: 'deliveries AS d',
  postgres: `(SELECT ${LISTED}, NULL::bigint AS due_at_ms, ended_at_ms FROM deliveries) AS d`,
});

const ANY = sql`${ALL_DELIVERIES} AS d`;

/** Deliveries in a state: the table that has them, and the condition as text, so that partial indexes apply. */
const BY_STATE: Readonly<Record<DeliveryState, { readonly from: Sql; readonly is: Sql }>> = {
  pending: { from: sql`${OPEN}`, is: sql`d.state = 'pending'` },
  sending: { from: sql`${OPEN}`, is: sql`d.state = 'sending'` },
  retrying: { from: sql`${OPEN}`, is: sql`d.state = 'retrying'` },
  held: { from: sql`${OPEN}`, is: sql`d.state = 'held'` },
  delivered: { from: sql`${OVER}`, is: sql`d.state = 'delivered'` },
  exhausted: { from: sql`${OVER}`, is: sql`d.state = 'exhausted'` },
  cancelled: { from: sql`${OVER}`, is: sql`d.state = 'cancelled'` },
};

/** Columns of a delivery `d` and its emission `e`. A mail may be large: the beginning of it has the subject. */
const COLUMNS = raw(`d.delivery, d.kind, d.listener_id, d.subscription_id, d.entry, e.emitter_id, e.name, e.lineage,
  e.digest_key, d.state, d.attempts_made, d.due_at_ms, d.due_by, d.ended_at_ms,
  CASE WHEN e.name = '${NOTICE}' THEN e.body WHEN d.kind = 'mail' THEN substr(e.body, 1, ${SUBJECT_BYTES}) END AS said,
  CASE WHEN d.state = 'delivered' AND (d.kind = 'mail' OR e.name = '${NOTICE}') THEN (SELECT ended.made FROM attempts AS ended
    WHERE ended.delivery = d.delivery ORDER BY ended.n DESC LIMIT 1) END AS last_made`);

const one = (delivery: number): Sql => sql`SELECT ${COLUMNS}, d.owner_id
  FROM ${ALL_DELIVERIES} AS d JOIN emissions AS e ON e.entry = d.entry WHERE d.delivery = ${delivery}`;

export function deliveryVerbs(core: ConfigCore): DeliveryVerbs {
  const { database, storeTag } = core;
  return {
    listDeliveries: ({ ownerId, listenerId, kind, state, entry, accepted }, page) => {
      // Of one emission there are few: its index finds them, and neither another index nor the order may be preferred.
      const isOfEmission = entry !== undefined;
      const { from, is } = state === undefined ? { from: ANY, is: null } : BY_STATE[state];
      const within =
        listenerId === undefined
          ? { column: raw('d.owner_id'), value: ownerId }
          : { column: raw('d.listener_id'), value: listenerId };
      const table = isOfEmission ? ANY : from;
      return readPage(database, {
        from: sql`${table} JOIN emissions AS e ON e.entry = d.entry`,
        countFrom: table,
        columns: COLUMNS,
        key: raw(isOfEmission ? '(d.delivery + 0)' : 'd.delivery'),
        ...(isOfEmission ? {} : { within }),
        where: [
          sql`${isOfEmission ? NO_KEY : raw('')}d.owner_id = ${ownerId}`,
          ...(entry === undefined ? [] : [sql`d.entry = ${entry}`]),
          ...(kind === undefined ? [] : [raw(KINDS[kind])]),
          ...(is === null ? [] : [is]),
          ...(accepted === undefined
            ? []
            : [
                sql`d.delivery >= ${firstNumberOf(accepted.sinceMs)}`,
                sql`d.delivery < ${firstNumberOf(accepted.untilMs)}`,
              ]),
        ],
        countUpTo: LIMITS.countedRecords,
        page,
        map: (row) => toDeliveryRecord(row, storeTag),
      });
    },

    getDelivery: async (ownerId, delivery) => {
      const rows = await database.all(whole(ownerId, delivery, core.clock.nowMs()));
      return rows[0] && toWhole(core, rows[0], rows);
    },

    resendDelivery: (ownerId, delivery) =>
      database.write(function* (w) {
        const reason = yield* resend(w, ownerId, delivery);
        if (reason !== null) return reason;
        const row = yield* get(one(delivery));
        return row && toDeliveryRecord(row, storeTag);
      }),
  };
}

/** Conditions as text, not parameters: only then does a partial index of one kind apply. */
const KINDS: Readonly<Record<DeliveryKind, string>> = {
  webhook: "d.kind = 'webhook'",
  mail: "d.kind = 'mail'",
  http: "d.kind = 'http'",
};

/** Retention may be about to delete the event of a delivery that is over, so the event is locked first, before the queue. */
const OF_EVENT = differs({ sqlite: '', postgres: 'FOR KEY SHARE OF e' });

const BY_HAND: readonly DeliveryState[] = [...RESENDABLE, 'pending'];

/** Sends a delivery again. Returns the reason why it was not sent; null: it was, undefined: there is no such delivery. */
function* resend(w: Writing, ownerId: string, delivery: number): Steps<NotResendable | null | undefined> {
  const found = yield* get(sql`SELECT d.listener_id FROM emissions AS e JOIN ${ALL_DELIVERIES} AS d ON d.entry = e.entry
    WHERE d.delivery = ${delivery} AND d.owner_id = ${ownerId} ${OF_EVENT}`);
  if (!found) return undefined;
  const listenerId = text(found, 'listener_id');
  const queue = yield* work(() => w.lockDeliveries({ ownerId, id: listenerId }));
  if (!queue) return 'gone';
  const [[now], [webhook]] = (yield* together(
    sql`SELECT state FROM ${ALL_DELIVERIES} WHERE delivery = ${delivery}`,
    sql`SELECT active FROM webhooks WHERE id = ${listenerId} AND owner_id = ${ownerId}`,
  )) as [[Row], [Row?]];
  const state = text<DeliveryState>(now, 'state');
  const reason = reasonAgainstResending({ state, listenerId }, webhook && { active: flag(webhook, 'active') });
  if (reason === null) yield* work(() => queue.sendAgain([delivery], BY_HAND));
  return reason;
}

/** Counts deliveries to the listener of `d`, up to LIMITS.countedRecords. */
const countOf = (condition: Sql): Sql => sql`(SELECT count(*) FROM (SELECT 1 FROM ${OPEN_DELIVERIES} AS o
  WHERE ${OF_LISTENER} AND ${condition} LIMIT ${LIMITS.countedRecords}) AS counted)`;

const OF_LISTENER = differs({
  sqlite: 'o.listener_id = d.listener_id',
  postgres: 'o.owner_id = d.owner_id AND o.listener_id = d.listener_id',
});
const IN_STATE = (state: DeliveryState): Sql =>
  sql`${differs({ sqlite: `o.state = '${state}' AND ${OPEN_DELIVERY}`, postgres: `o.state = '${state}'` })}`;
const IS_BEFORE = raw('(o.due_at_ms, o.delivery) < (d.due_at_ms, d.delivery)');

/**
 * Counts deliveries that are claimed before `d`: for an ordered webhook those with a lower number; for others first attempts,
 * which are due whatever the clock says, and before a retry also the retries that are due.
 */
const aheadAt = (nowMs: number): Sql => sql`CASE WHEN d.state NOT IN ('pending', 'retrying') THEN 0
    WHEN w.is_ordered THEN ${countOf(raw("o.delivery < d.delivery AND o.state IN ('pending', 'retrying')"))}
    WHEN d.state = 'pending' THEN ${countOf(sql`${IN_STATE('pending')} AND ${IS_BEFORE}`)}
    ELSE ${countOf(IN_STATE('pending'))}
      + ${countOf(sql`${IN_STATE('retrying')} AND o.due_at_ms <= CAST (${nowMs} AS BIGINT) AND ${IS_BEFORE}`)} END`;

/** The first delivery of the listener of `d` that waits or is on its way. */
const FIRST = differs({
  sqlite: `(SELECT min(delivery) FROM (
      SELECT * FROM (SELECT o.delivery FROM deliveries AS o WHERE o.listener_id = d.listener_id
        AND o.state IN ('pending', 'retrying') ORDER BY o.delivery LIMIT 1)
      UNION ALL SELECT min(o.delivery) FROM deliveries AS o WHERE o.listener_id = d.listener_id
        AND o.state = 'sending' AND ${OPEN_DELIVERY}))`,
  postgres: `(SELECT o.delivery FROM open_deliveries AS o WHERE o.owner_id = d.owner_id AND o.listener_id = d.listener_id
      AND o.state IN ('pending', 'retrying', 'sending') ORDER BY o.owner_id, o.listener_id, o.delivery LIMIT 1)`,
});

/** Selects, of the queue of the listener of `d`, how many deliveries are under way, and until when it is paused. */
const QUEUE = differs({
  sqlite: `SELECT h.paused_until_ms, (SELECT count(*) FROM deliveries AS o WHERE o.listener_id = d.listener_id
      AND o.state = 'sending' AND ${OPEN_DELIVERY}) AS sending
    FROM d LEFT JOIN webhook_health AS h ON h.webhook_id = d.listener_id`,
  postgres: `SELECT l.paused_until_ms, coalesce(l.taken, 0) AS sending
    FROM d LEFT JOIN listener_queues AS l ON l.owner_id = d.owner_id AND l.listener_id = d.listener_id`,
});

/** Selects a delivery with one row for each attempt. One statement, so an attempt that is being recorded shows whole or not at all. */
const whole = (ownerId: string, delivery: number, nowMs: number): Sql => sql`WITH
  d AS MATERIALIZED (${one(delivery)} AND d.owner_id = ${ownerId}),
  queue AS MATERIALIZED (${QUEUE}),
  queue_position AS MATERIALIZED (SELECT w.id AS webhook, ${aheadAt(nowMs)} AS ahead,
      CASE WHEN w.is_ordered THEN ${FIRST} END AS head FROM d JOIN webhooks AS w ON w.id = d.listener_id
    WHERE d.state IN ('pending', 'sending', 'retrying', 'held'))
  SELECT d.*, s.webhook, s.ahead, s.head, q.sending, q.paused_until_ms, w.id, w.url, w.name AS webhook_name, w.description,
      w.active, w.settings, w.secrets, w.created_at_ms, w.updated_at_ms, a.n, a.trigger, a.made
    FROM d CROSS JOIN queue AS q LEFT JOIN queue_position AS s ON true LEFT JOIN webhooks AS w ON w.id = s.webhook
      LEFT JOIN attempts AS a ON a.delivery = d.delivery
    ORDER BY a.n`;

function toWhole(core: ConfigCore, row: Row, rows: readonly Row[]): DeliveryWhole {
  const isRequest = row.kind === 'http';
  return {
    record: toDeliveryRecord(row, core.storeTag),
    attempts: rows.filter(({ n }) => n !== null).map(toAttempt),
    position: row.webhook === null ? null : toQueuePosition(core, row),
    ...(isRequest ? { pausedUntilMs: pausedUntilMs(core, row) } : {}),
  };
}

function toQueuePosition(core: ConfigCore, row: Row): QueuePosition {
  const head = numberOrNull(row, 'head');
  return {
    webhook: toWebhook({ ...row, name: textOrNull(row, 'webhook_name') }, core.seal),
    pausedUntilMs: pausedUntilMs(core, row),
    sending: number(row, 'sending'),
    ahead: Math.min(number(row, 'ahead'), LIMITS.countedRecords),
    head: head === row.delivery ? null : head,
  };
}

function pausedUntilMs({ database, clock }: ConfigCore, row: Row): number | null {
  const listenerId = text(row, 'listener_id');
  const untilMs = isWebhook(listenerId) ? null : database.pauseInMemory(listenerId);
  const last = untilMs ?? numberOrNull(row, 'paused_until_ms');
  return last !== null && last > clock.nowMs() ? last : null;
}

function toAttempt(row: Row): AttemptRecord {
  return { ...json<Attempt>(row, 'made'), n: number(row, 'n'), trigger: text(row, 'trigger') };
}
