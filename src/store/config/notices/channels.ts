// Channels.

import { LIMITS } from '../../../domain/limits.ts';
import type { Channel } from '../../../domain/notices/channel.ts';
import type { Workflow } from '../../../domain/resource.ts';
import type { ChannelStore } from '../../contract/channels.ts';
import { json, number } from '../../rows/cells.ts';
import { sealedConfig, toChannel } from '../../rows/channel-rows.ts';
import type { Row } from '../../rows/rows.ts';
import { toWorkflow } from '../../rows/runnable-rows.ts';
import type { ConfigCore } from '../config-database.ts';
import { readPage } from '../pages.ts';
import { FOR_UPDATE, raw, type Sql, sql } from '../sql.ts';
import { all, get, type Steps, send } from '../steps.ts';

const one = (ownerId: string, id: string): Sql =>
  sql`SELECT * FROM channels WHERE id = ${id} AND owner_id = ${ownerId}`;

export function channelVerbs({ database, seal }: ConfigCore): ChannelStore {
  const map = (row: Row): Channel => toChannel(row, seal);
  return {
    createChannel: (channel, max) =>
      database.writeLocked(channel.ownerId, function* () {
        const row = yield* get(sql`SELECT count(*) AS n FROM channels WHERE owner_id = ${channel.ownerId}`);
        if (row && number(row, 'n') >= max) return false;
        yield* send(sql`INSERT INTO channels (id, owner_id, kind, name, active, config, created_at_ms, updated_at_ms)
          VALUES (${channel.id}, ${channel.ownerId}, ${channel.kind}, ${channel.name}, ${channel.active},
            ${sealedConfig(channel, seal)}, ${channel.createdAtMs}, ${channel.updatedAtMs})`);
        return true;
      }),

    updateChannel: (ownerId, id, change) =>
      database.write(function* () {
        const row = yield* get(sql`${one(ownerId, id)} ${FOR_UPDATE}`);
        if (!row) return undefined;
        const before = map(row);
        const { createdAtMs, kind } = before;
        const channel = { ...change(before), id, ownerId, kind, createdAtMs };
        yield* send(sql`UPDATE channels SET name = ${channel.name}, active = ${channel.active},
            config = ${sealedConfig(channel, seal)}, updated_at_ms = ${channel.updatedAtMs}
          WHERE id = ${id} AND owner_id = ${ownerId}`);
        return channel;
      }),

    getChannel: async (ownerId, id) => {
      const row = await database.get(one(ownerId, id));
      return row && map(row);
    },

    listChannels: (ownerId, page) =>
      readPage(database, {
        from: raw('channels'),
        columns: raw('*'),
        where: [sql`owner_id = ${ownerId}`],
        countUpTo: LIMITS.countedRecords,
        page,
        map,
      }),

    deleteChannel: (ownerId, id, check) =>
      database.writeRouting(ownerId, function* () {
        if (check) check(yield* usersOf(ownerId, id));
        const row = yield* get(sql`DELETE FROM channels WHERE id = ${id} AND owner_id = ${ownerId} RETURNING *`);
        if (!row) return undefined;
        yield* forget(ownerId, id);
        return map(row);
      }),
  };

  function* usersOf(ownerId: string, id: string): Steps<Workflow[]> {
    const there = sql`SELECT 1 FROM channels WHERE id = ${id} AND owner_id = ${ownerId}`;
    // All are opened: settings are sealed.
    const rows = yield* all(sql`SELECT * FROM runnables WHERE owner_id = ${ownerId} AND substr(id, 1, 2) = 'p_'
      AND EXISTS (${there}) ORDER BY id`);
    return rows.map((row) => toWorkflow(row, seal)).filter(({ settings }) => settings.channels?.includes(id));
  }
}

function* forget(ownerId: string, id: string): Steps<void> {
  const row = yield* get(sql`SELECT channel_ids FROM owners WHERE id = ${ownerId} ${FOR_UPDATE}`);
  const ids = row ? json<string[]>(row, 'channel_ids') : [];
  if (!ids.includes(id)) return;
  const left = JSON.stringify(ids.filter((known) => known !== id));
  yield* send(sql`UPDATE owners SET channel_ids = ${left} WHERE id = ${ownerId}`);
}
