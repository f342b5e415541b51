// Subscriptions: who hears whom.

import { LIMITS } from '../../../domain/limits.ts';
import type { Subscription } from '../../../domain/resource.ts';
import type { SubscriptionStore } from '../../contract/resources.ts';
import { toSubscription } from '../../rows/resource-rows.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Row, Value } from '../connection/values.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';
import { configWrite } from './config-write.ts';
import { putSubscription } from './runnables.ts';

export function subscriptionVerbs(core: Core): SubscriptionStore {
  const { pool } = core;
  return {
    createSubscription: (subscription) =>
      configWrite(core, subscription.ownerId, ({ tx }) => createIn(tx, subscription)),

    getSubscription: async (ownerId, id) => {
      const row = await pool.get('SELECT * FROM subscriptions WHERE id = $1 AND owner_id = $2', id, ownerId);
      return row && toSubscription(row);
    },

    listSubscriptions: ({ ownerId, emitterId, listenerId, eventName, via }, page) => {
      const where = ['owner_id = $1'];
      const values: Value[] = [ownerId];
      const filters = { emitter_id: emitterId, listener_id: listenerId, event_name: eventName, via };
      for (const [column, value] of Object.entries(filters)) {
        if (value !== undefined) where.push(`${column} = $${values.push(value)}`);
      }
      const listing = {
        from: 'subscriptions',
        columns: '*',
        key: 'id',
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: toSubscription });
    },

    deleteSubscription: (ownerId, id) =>
      configWrite(core, ownerId, async ({ tx }) => {
        const [row] = await tx.query(
          `DELETE FROM subscriptions WHERE id = $1 AND owner_id = $2 AND via = 'subscription' RETURNING *`,
          id,
          ownerId,
        );
        return row && toSubscription(row);
      }),
  };
}

type Created = Awaited<ReturnType<SubscriptionStore['createSubscription']>>;

async function createIn(tx: Tx, subscription: Subscription): Promise<Created> {
  const { ownerId, emitterId, listenerId, eventName, via } = subscription;
  const reader = { get: async (sql: string, ...values: Value[]) => (await tx.query(sql, ...values))[0] };
  const [hasEmitter, hasListener] = await Promise.all([
    emitterId.endsWith('*') || ownerHas(reader, ownerId, emitterId),
    ownerHas(reader, ownerId, listenerId),
  ]);
  if (!hasEmitter) return { missing: 'emitter_id' };
  if (!hasListener) return { missing: 'listener_id' };
  putSubscription(tx, subscription);
  const [row] = await tx.query(
    `SELECT * FROM subscriptions
      WHERE owner_id = $1 AND emitter_id = $2 AND listener_id = $3 AND event_name = $4 AND via = $5`,
    ownerId,
    emitterId,
    listenerId,
    eventName,
    via,
  );
  return { subscription: row ? toSubscription(row) : subscription };
}

const TABLES: Readonly<Record<string, string>> = {
  p_: 'runnables',
  dc_: 'runnables',
  wh_: 'webhooks',
  hi_: 'triggers',
  ti_: 'triggers',
};

interface Reader {
  get(sql: string, ...values: Value[]): Promise<Row | undefined>;
}

/** Whether a resource exists and is the owner's. Inside a transaction, its own writes show. */
export async function ownerHas(reader: Reader, ownerId: string, id: string): Promise<boolean> {
  if (id === ownerId) return true;
  const table = TABLES[id.slice(0, id.indexOf('_') + 1)];
  if (table === undefined) return false;
  const row = await reader.get(`SELECT 1 FROM ${table} WHERE id = $1 AND owner_id = $2`, id, ownerId);
  return row !== undefined;
}
