// What is read of deliveries. As with runs: two tables, one view, and where a state is asked for only one of the tables.

import type { Attempt, DeliveryState } from '../../domain/delivery.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { AttemptRecord, DeliveryStore } from '../store.ts';
import type { Core } from './core.ts';
import { readPage } from './pages.ts';
import { toDeliveryRecord } from './rows.ts';
import type { Row, Value } from './values.ts';

const DELIVERY_COLUMNS = `d.delivery, d.kind, d.listener_id, d.subscription_id, d.entry, e.emitter_id, e.name, d.state,
  d.attempts_made, d.due_at_ms, d.ended_at_ms`;

const OPEN_DELIVERIES = '(SELECT *, NULL::bigint AS ended_at_ms FROM open_deliveries)';
const OVER_DELIVERIES = '(SELECT *, NULL::bigint AS due_at_ms FROM deliveries)';

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
    listDeliveries: ({ ownerId, listenerId, state }, page) => {
      const where = ['d.owner_id = $1'];
      const values: Value[] = [ownerId];
      const within =
        listenerId === undefined ? undefined : { column: 'd.listener_id', place: `$${values.push(listenerId)}` };
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

    // One statement: an attempt that is just being recorded shows in both, or in none.
    getDelivery: async (ownerId, delivery) => {
      const rows = await pool.all(
        `SELECT ${DELIVERY_COLUMNS}, a.n, a.trigger, a.made FROM all_deliveries AS d
            JOIN emissions AS e ON e.entry = d.entry LEFT JOIN attempts AS a ON a.delivery = d.delivery
          WHERE d.delivery = $1 AND d.owner_id = $2 ORDER BY a.n`,
        delivery,
        ownerId,
      );
      if (!rows[0]) return undefined;
      const attempts = rows.filter(({ n }) => n !== null).map(toAttempt);
      return { record: toDeliveryRecord(rows[0], storeTag), attempts };
    },
  };
}

function toAttempt(row: Row): AttemptRecord {
  return { ...(JSON.parse(row.made as string) as Attempt), n: row.n as number, trigger: row.trigger as string };
}
