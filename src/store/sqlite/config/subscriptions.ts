// Subscriptions: who hears whom.

import { LIMITS } from '../../../domain/limits.ts';
import type { SubscriptionStore } from '../../contract/resources.ts';
import { toSubscription } from '../../rows/resource-rows.ts';
import type { Core } from '../core.ts';
import type { Value } from '../database.ts';
import { readPage } from '../pages.ts';
import { configWrite } from './config-write.ts';
import { putSubscription } from './runnables.ts';

export function subscriptionVerbs(core: Core): SubscriptionStore {
  return {
    createSubscription: (subscription) =>
      configWrite(core, () => {
        const { ownerId, emitterId, listenerId, eventName, via } = subscription;
        if (!emitterId.endsWith('*') && !ownerHas(core, ownerId, emitterId)) return { missing: 'emitter_id' as const };
        if (!ownerHas(core, ownerId, listenerId)) return { missing: 'listener_id' as const };
        putSubscription(core, subscription);
        const row = core.writer.get(
          `SELECT * FROM subscriptions
            WHERE owner_id = ? AND emitter_id = ? AND listener_id = ? AND event_name = ? AND via = ?`,
          ownerId,
          emitterId,
          listenerId,
          eventName,
          via,
        );
        return { subscription: row ? toSubscription(row) : subscription };
      }),

    getSubscription: async (ownerId, id) => {
      const row = core.reader.get('SELECT * FROM subscriptions WHERE id = ? AND owner_id = ?', id, ownerId);
      return row && toSubscription(row);
    },

    listSubscriptions: async ({ ownerId, emitterId, listenerId, eventName, via }, page) => {
      const where = ['owner_id = ?'];
      const values: Value[] = [ownerId];
      const filters = { emitter_id: emitterId, listener_id: listenerId, event_name: eventName, via };
      for (const [column, value] of Object.entries(filters)) {
        if (value === undefined) continue;
        where.push(`${column} = ?`);
        values.push(value);
      }
      const listing = {
        from: 'subscriptions',
        columns: '*',
        key: 'id',
        where,
        values,
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(core.reader, listing, { page, map: toSubscription });
    },

    deleteSubscription: (ownerId, id) =>
      configWrite(core, () => {
        const row = core.writer.get(
          "DELETE FROM subscriptions WHERE id = ? AND owner_id = ? AND via = 'subscription' RETURNING *",
          id,
          ownerId,
        );
        return row && toSubscription(row);
      }),
  };
}

const TABLES: Readonly<Record<string, string>> = {
  p_: 'runnables',
  dc_: 'runnables',
  wh_: 'webhooks',
  hi_: 'triggers',
  ti_: 'triggers',
};

/** Whether a resource exists and is the owner's; read where this transaction's own writes show. */
export function ownerHas(core: Core, ownerId: string, id: string): boolean {
  if (id === ownerId) return true;
  const table = TABLES[id.slice(0, id.indexOf('_') + 1)];
  if (table === undefined) return false;
  return core.writer.get(`SELECT 1 FROM ${table} WHERE id = ? AND owner_id = ?`, id, ownerId) !== undefined;
}
