// Heartbeats: a record, and the watch that pings and the scheduler change.

import { LIMITS } from '../../../domain/limits.ts';
import type { Heartbeat, WatchedHeartbeat } from '../../../domain/watch/heartbeat.ts';
import type { WatchStore } from '../../contract/watches.ts';
import { number } from '../../rows/cells.ts';
import { HEARTBEAT_COLUMNS, toWatchedHeartbeat, WATCH_COLUMNS } from '../../rows/watch-rows.ts';
import type { ConfigCore } from '../config-database.ts';
import { resolveGroups } from '../error-groups.ts';
import { readPage } from '../pages.ts';
import { FOR_UPDATE, raw, type Sql, sql } from '../sql.ts';
import { get, type Steps, send } from '../steps.ts';
import { removeSubscriptions } from '../subscriptions.ts';
import { putWatch, resolveWatched, unwatch } from './watches.ts';

const COLUMNS = raw(`${WATCH_COLUMNS}, ${HEARTBEAT_COLUMNS}`);
const WATCHED = raw(`heartbeats AS h JOIN watches AS w ON w.id = h.id AND w.kind = 'heartbeat'`);

const one = (ownerId: string, id: string): Sql =>
  sql`SELECT ${COLUMNS} FROM ${WATCHED} WHERE h.id = ${id} AND h.owner_id = ${ownerId}`;

type HeartbeatVerbs = Pick<
  WatchStore,
  'createHeartbeat' | 'updateHeartbeat' | 'getHeartbeat' | 'listHeartbeats' | 'deleteHeartbeat' | 'heartbeatByKey'
>;

export function heartbeatVerbs({ database }: ConfigCore): HeartbeatVerbs {
  const write = (made: WatchedHeartbeat, max: number) =>
    function* (): Steps<boolean> {
      const { ownerId } = made.heartbeat;
      const row = yield* get(sql`SELECT count(*) AS n FROM heartbeats WHERE owner_id = ${ownerId}`);
      if (row && number(row, 'n') >= max) return false;
      yield* insert(made.heartbeat);
      yield* putWatch([made.watch]);
      return true;
    };

  return {
    createHeartbeat: (made, max) => database.writeLocked(made.heartbeat.ownerId, write(made, max)),

    updateHeartbeat: (ownerId, id, change) =>
      database.writeLocked(ownerId, function* () {
        const row = yield* get(sql`${one(ownerId, id)} ${FOR_UPDATE}`);
        if (!row) return undefined;
        const before = toWatchedHeartbeat(row);
        const { heartbeat, watch } = change(before);
        yield* send(sql`UPDATE heartbeats SET name = ${heartbeat.name}, active = ${heartbeat.active}, post_only = ${heartbeat.postOnly},
            schedule = ${JSON.stringify(heartbeat.schedule)}, grace_ms = ${heartbeat.graceMs},
            updated_at_ms = ${heartbeat.updatedAtMs} WHERE id = ${id} AND owner_id = ${ownerId}`);
        yield* putWatch([watch]);
        const isUnwatched = before.watch.open.length > 0 && watch.open.length === 0;
        if (isUnwatched) yield* resolveWatched({ ownerId, id, kinds: ['heartbeat'], rules: [] }, heartbeat.updatedAtMs);
        return { heartbeat, watch };
      }),

    getHeartbeat: async (ownerId, id) => {
      const row = await database.get(one(ownerId, id));
      return row && toWatchedHeartbeat(row);
    },

    listHeartbeats: (ownerId, page) =>
      readPage(database, {
        from: WATCHED,
        countFrom: raw('heartbeats AS h'),
        columns: COLUMNS,
        key: raw('h.id'),
        where: [sql`h.owner_id = ${ownerId}`],
        countUpTo: LIMITS.countedRecords,
        page,
        map: toWatchedHeartbeat,
      }),

    deleteHeartbeat: (ownerId, id) =>
      database.writeRouting(ownerId, function* (w) {
        const row = yield* get(one(ownerId, id));
        if (!row) return undefined;
        yield* send(sql`DELETE FROM heartbeats WHERE id = ${id} AND owner_id = ${ownerId}`);
        yield* unwatch({ ownerId, id });
        yield* removeSubscriptions({ ownerId, id });
        yield* resolveGroups({ ownerId, id }, w.nowMs);
        return toWatchedHeartbeat(row);
      }),

    heartbeatByKey: async (key) => {
      const row = await database.get(sql`SELECT ${COLUMNS} FROM ${WATCHED} WHERE h.key = ${key}`);
      return row && toWatchedHeartbeat(row);
    },
  };
}

function* insert(heartbeat: Heartbeat): Steps<void> {
  yield* send(sql`INSERT INTO heartbeats (id, owner_id, name, active, key, post_only, schedule, grace_ms, created_at_ms, updated_at_ms)
    VALUES (${heartbeat.id}, ${heartbeat.ownerId}, ${heartbeat.name}, ${heartbeat.active}, ${heartbeat.key},
      ${heartbeat.postOnly}, ${JSON.stringify(heartbeat.schedule)}, ${heartbeat.graceMs}, ${heartbeat.createdAtMs}, ${heartbeat.updatedAtMs})`);
}
