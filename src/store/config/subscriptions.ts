// Subscriptions: which listener hears which emitter.

import { filterText } from '../../domain/filter/event-filter.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { Subscription } from '../../domain/resource.ts';
import type { ResourceStore, SubscriptionStore } from '../contract/resources.ts';
import { toSubscription } from '../rows/resource-rows.ts';
import type { ConfigCore, Listener } from './config-database.ts';
import { readPage } from './pages.ts';
import { FOR_UPDATE, isAmong, isNotAmong, raw, type Sql, sql, tableOf } from './sql.ts';
import { get, type Steps, send } from './steps.ts';

export function subscriptionVerbs({ database }: ConfigCore): SubscriptionStore & Pick<ResourceStore, 'exists'> {
  return {
    createSubscription: (subscription) =>
      database.writeRouting(subscription.ownerId, () => createSubscription(subscription)),

    getSubscription: async (ownerId, id) => {
      const row = await database.get(sql`SELECT * FROM subscriptions WHERE id = ${id} AND owner_id = ${ownerId}`);
      return row && toSubscription(row);
    },

    listSubscriptions: ({ ownerId, emitterId, listenerId, eventName, via }, page) =>
      readPage(database, {
        from: raw('subscriptions'),
        columns: raw('*'),
        where: [
          sql`owner_id = ${ownerId}`,
          ...(emitterId === undefined ? [] : [sql`emitter_id = ${emitterId}`]),
          ...(listenerId === undefined ? [] : [sql`listener_id = ${listenerId}`]),
          ...(eventName === undefined ? [] : [sql`event_name = ${eventName}`]),
          ...(via === undefined ? [] : [sql`via = ${via}`]),
        ],
        countUpTo: LIMITS.countedRecords,
        page,
        map: toSubscription,
      }),

    listTriggerSubscriptions: async (ownerId, listenerId) => {
      const rows = await database.all(sql`SELECT * FROM subscriptions
        WHERE owner_id = ${ownerId} AND listener_id = ${listenerId} AND via = 'trigger' ORDER BY position, id`);
      return rows.map(toSubscription);
    },

    filterSubscription: (ownerId, id, change) =>
      database.writeRouting(ownerId, function* () {
        const row = yield* get(sql`SELECT * FROM subscriptions
          WHERE id = ${id} AND owner_id = ${ownerId} AND via = 'subscription' ${FOR_UPDATE}`);
        if (!row) return undefined;
        const before = toSubscription(row);
        const filter = change(before);
        yield* send(sql`UPDATE subscriptions SET filter = ${filterText(filter)} WHERE id = ${id}`);
        return { ...before, filter };
      }),

    deleteSubscription: (ownerId, id) =>
      database.writeRouting(ownerId, function* () {
        const row = yield* get(sql`DELETE FROM subscriptions
          WHERE id = ${id} AND owner_id = ${ownerId} AND via = 'subscription' RETURNING *`);
        return row && toSubscription(row);
      }),

    exists: async (ownerId, id) => {
      const row = id === ownerId ? undefined : lookUp(ownerId, id);
      return id === ownerId || (row !== undefined && (await database.get(row)) !== undefined);
    },
  };
}

type Created = Awaited<ReturnType<SubscriptionStore['createSubscription']>>;

function* createSubscription(subscription: Subscription): Steps<Created> {
  const { ownerId, emitterId, listenerId, eventName, via } = subscription;
  const hasEmitter = emitterId.endsWith('*') || (yield* exists(ownerId, emitterId));
  if (!hasEmitter) return { missing: 'emitter_id' };
  if (!(yield* exists(ownerId, listenerId))) return { missing: 'listener_id' };
  yield* putSubscriptions([subscription]);
  const row = yield* get(sql`SELECT * FROM subscriptions
    WHERE owner_id = ${ownerId} AND emitter_id = ${emitterId} AND listener_id = ${listenerId}
      AND event_name = ${eventName} AND via = ${via}`);
  return { subscription: row ? toSubscription(row) : subscription };
}

const TABLES: Readonly<Record<string, string>> = {
  p_: 'runnables',
  dc_: 'runnables',
  wh_: 'webhooks',
  hb_: 'heartbeats',
  hi_: 'triggers',
  ti_: 'triggers',
};

/** Returns the statement that finds an id; undefined when nothing can have it. */
function lookUp(ownerId: string, id: string): Sql | undefined {
  const table = TABLES[id.slice(0, id.indexOf('_') + 1)];
  return table === undefined
    ? undefined
    : sql`SELECT 1 AS one FROM ${raw(table)} WHERE id = ${id} AND owner_id = ${ownerId}`;
}

/** Returns whether the owner has something with this id, including what this transaction has written. */
export function* exists(ownerId: string, id: string): Steps<boolean> {
  if (id === ownerId) return true;
  const row = lookUp(ownerId, id);
  return row !== undefined && (yield* get(row)) !== undefined;
}

const COLUMNS = {
  id: 'text',
  owner_id: 'text',
  emitter_id: 'text',
  listener_id: 'text',
  event_name: 'text',
  via: 'text',
  active: 'boolean',
  created_at_ms: 'bigint',
  filter: 'text',
} as const;

const PLACE = { id: 'text', position: 'bigint' } as const;

/** Writes subscriptions, except those that stand already. */
export function* putSubscriptions(subscriptions: readonly Subscription[]): Steps<void> {
  if (subscriptions.length === 0) return;
  const rows = subscriptions.map((s) => ({
    id: s.id,
    owner_id: s.ownerId,
    emitter_id: s.emitterId,
    listener_id: s.listenerId,
    event_name: s.eventName,
    via: s.via,
    active: s.active,
    created_at_ms: s.createdAtMs,
    filter: filterText(s.filter),
  }));
  yield* send(sql`INSERT INTO subscriptions
      (id, owner_id, emitter_id, listener_id, event_name, via, active, created_at_ms, filter)
    SELECT * FROM ${tableOf(COLUMNS, rows)} WHERE true ON CONFLICT DO NOTHING`);
}

/** Writes the subscriptions that stand for all triggers of a workflow or source, in the order of the triggers. */
export function* putTriggerSubscriptions({ ownerId }: Listener, subscriptions: readonly Subscription[]): Steps<void> {
  if (subscriptions.length === 0) return;
  yield* putSubscriptions(subscriptions);
  // A second statement: a row may conflict by its id or by its content, and Postgres takes one target for DO UPDATE.
  const places = subscriptions.map(({ id }, position) => ({ id, position }));
  yield* send(sql`UPDATE subscriptions SET position = given.position FROM ${tableOf(PLACE, places)}
    WHERE subscriptions.id = given.id AND subscriptions.id ${isAmong(places.map(({ id }) => id))}
      AND subscriptions.owner_id = ${ownerId} AND subscriptions.position IS DISTINCT FROM given.position`);
}

/** Removes the subscriptions that stand for triggers and are not kept. */
export function* removeTriggerSubscriptions({ ownerId, id }: Listener, kept: readonly string[]): Steps<void> {
  yield* send(sql`DELETE FROM subscriptions
    WHERE owner_id = ${ownerId} AND listener_id = ${id} AND via = 'trigger' AND id ${isNotAmong(kept)}`);
}

/** Deletes all subscriptions of a listener, and all to it as an emitter. */
export function* removeSubscriptions({ ownerId, id }: Listener): Steps<void> {
  yield* send(sql`DELETE FROM subscriptions WHERE owner_id = ${ownerId} AND listener_id = ${id}`);
  yield* send(sql`DELETE FROM subscriptions WHERE owner_id = ${ownerId} AND emitter_id = ${id}`);
}
