// What is read of deliveries. As with runs: two tables, one view, and where a state is asked for only one of the tables.

import type { Attempt, DeliveryState } from '../../../domain/delivery/delivery.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { AttemptRecord, Standing } from '../../contract/records.ts';
import type { DeliveryStore } from '../../contract/store.ts';
import { number, numberOrNull, text, textOrNull } from '../../rows/cells.ts';
import { toDeliveryRecord } from '../../rows/log-rows.ts';
import { toWebhook } from '../../rows/webhook-rows.ts';
import type { Row, Value } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';

/** Of `all_deliveries AS d JOIN emissions AS e`. */
export const DELIVERY_COLUMNS = `d.delivery, d.kind, d.listener_id, d.subscription_id, d.entry, e.emitter_id, e.name, d.state,
  d.attempts_made, d.due_at_ms, d.due_by, d.ended_at_ms`;

const TOLD = `delivery, owner_id, kind, listener_id, subscription_id, entry, state, attempts_made,
  due_by`;
const OPEN_DELIVERIES = `(SELECT ${TOLD}, due_at_ms, NULL::bigint AS ended_at_ms FROM open_deliveries)`;
const OVER_DELIVERIES = `(SELECT ${TOLD}, NULL::bigint AS due_at_ms, ended_at_ms FROM deliveries)`;

const TABLES: Readonly<Record<DeliveryState, string>> = {
  pending: OPEN_DELIVERIES,
  sending: OPEN_DELIVERIES,
  retrying: OPEN_DELIVERIES,
  held: OPEN_DELIVERIES,
  delivered: OVER_DELIVERIES,
  exhausted: OVER_DELIVERIES,
  cancelled: OVER_DELIVERIES,
};

export function deliveryReads(core: Core): Pick<DeliveryStore, 'listDeliveries' | 'getDelivery'> {
  const { pool, storeTag } = core;
  return {
    listDeliveries: ({ ownerId, listenerId, kind, state }, page) => {
      const where = ['d.owner_id = $1'];
      const values: Value[] = [ownerId];
      const within =
        listenerId === undefined ? undefined : { column: 'd.listener_id', place: `$${values.push(listenerId)}` };
      if (kind !== undefined) where.push(`d.kind = '${kind}'`);
      if (state !== undefined) where.push(`d.state = $${values.push(state)}`);
      const table = state === undefined ? 'all_deliveries' : TABLES[state];
      const listing = {
        from: `${table} AS d JOIN emissions AS e ON e.entry = d.entry`,
        countFrom: `${table} AS d`,
        columns: DELIVERY_COLUMNS,
        key: 'd.delivery',
        within,
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: (row) => toDeliveryRecord(row, storeTag) });
    },

    getDelivery: async (ownerId, delivery) => {
      const rows = await pool.all(WHOLE, delivery, ownerId, core.clock.nowMs());
      if (!rows[0]) return undefined;
      const attempts = rows.filter(({ n }) => n !== null).map(toAttempt);
      const [row] = rows;
      const paused = row.kind === 'http' ? { pausedUntilMs: pausedUntilMs(core, row) } : {};
      return { record: toDeliveryRecord(row, storeTag), attempts, standing: toStanding(core, row), ...paused };
    },
  };
}

/** Of the listener of `d`, counted by an index and no further than it matters. `$3`: now. */
const countOf = (condition: string): string =>
  `(SELECT count(*) FROM (SELECT 1 FROM open_deliveries AS o WHERE o.owner_id = d.owner_id AND o.listener_id = d.listener_id
    AND ${condition} LIMIT ${LIMITS.countedRecords}) AS counted)`;

const dueBefore = (state: 'pending' | 'retrying'): string =>
  countOf(`o.state = '${state}' AND o.due_at_ms <= $3::bigint
    AND (o.due_at_ms, o.delivery) < (d.due_at_ms, d.delivery)`);

/**
 * Deliveries that are claimed before `d`: of an ordered webhook those with a lower number, of others those that are due,
 * first attempts before retries and then the longest due.
 */
const AHEAD = `CASE WHEN d.state NOT IN ('pending', 'retrying') THEN 0
    WHEN w.is_ordered THEN ${countOf("o.delivery < d.delivery AND o.state IN ('pending', 'retrying')")}
    WHEN d.state = 'pending' THEN ${dueBefore('pending')}
    ELSE least(${LIMITS.countedRecords}, ${dueBefore('retrying')}
      + ${countOf("o.state = 'pending' AND o.due_at_ms <= $3::bigint")}) END`;

const HEAD = `CASE WHEN w.is_ordered THEN (SELECT o.delivery FROM open_deliveries AS o
    WHERE o.owner_id = d.owner_id AND o.listener_id = d.listener_id AND o.state IN ('pending', 'retrying', 'sending')
    ORDER BY o.owner_id, o.listener_id, o.delivery LIMIT 1) END`;

/** One statement: an attempt that is just being recorded shows in all of it, or nowhere. */
const WHOLE = `WITH d AS MATERIALIZED (
    SELECT ${DELIVERY_COLUMNS}, d.owner_id FROM all_deliveries AS d JOIN emissions AS e ON e.entry = d.entry
      WHERE d.delivery = $1 AND d.owner_id = $2),
  standing AS MATERIALIZED (
    SELECT w.id AS webhook, ${AHEAD} AS ahead, ${HEAD} AS head FROM d JOIN webhooks AS w ON w.id = d.listener_id
      WHERE d.state IN ('pending', 'sending', 'retrying', 'held'))
  SELECT d.*, s.webhook, s.ahead, s.head, l.taken, l.paused_until_ms, w.id, w.url, w.name AS webhook_name, w.description,
      w.active, w.settings, w.secrets, w.created_at_ms, w.updated_at_ms, a.n, a.trigger, a.made
    FROM d LEFT JOIN standing AS s ON true LEFT JOIN webhooks AS w ON w.id = s.webhook
      LEFT JOIN listener_queues AS l ON l.owner_id = d.owner_id AND l.listener_id = d.listener_id
      LEFT JOIN attempts AS a ON a.delivery = d.delivery
    ORDER BY a.n`;

function toStanding(core: Core, row: Row): Standing | null {
  if (row.webhook === null) return null;
  return {
    webhook: toWebhook({ ...row, name: textOrNull(row, 'webhook_name') }, core.seal),
    pausedUntilMs: pausedUntilMs(core, row),
    sending: numberOrNull(row, 'taken') ?? 0,
    ahead: number(row, 'ahead'),
    head: row.head === row.delivery ? null : numberOrNull(row, 'head'),
  };
}

function pausedUntilMs({ clock }: Core, row: Row): number | null {
  const untilMs = numberOrNull(row, 'paused_until_ms');
  return untilMs !== null && untilMs > clock.nowMs() ? untilMs : null;
}

function toAttempt(row: Row): AttemptRecord {
  return { ...(JSON.parse(text(row, 'made')) as Attempt), n: number(row, 'n'), trigger: text(row, 'trigger') };
}
