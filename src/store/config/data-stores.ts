// Data stores, and the deletion of records that were deleted, cleared or have expired.

import type { DataStore } from '../../domain/data.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { DataStoreStore } from '../contract/data.ts';
import { withinBytes } from '../rows/byte-limit.ts';
import { number, text } from '../rows/cells.ts';
import { toDataStore } from '../rows/data-rows.ts';
import type { ConfigCore } from './config-database.ts';
import { deleteExpired, recordVerbs } from './data-records.ts';
import { readPage } from './pages.ts';
import { differs, FOR_UPDATE, raw, type Sql, sql } from './sql.ts';
import { all, get, type Steps, send } from './steps.ts';

/** About what one step deletes: SQLite reads each page of a large value to free it. */
const SWEPT_BYTES = 4 * 1024 * 1024;

/** Nodes sweep different stores. */
const SKIP_LOCKED = differs({ sqlite: '', postgres: 'FOR UPDATE SKIP LOCKED' });

/** Returns the columns of a store; `size` counts its records that have not expired. */
const columns = (nowMs: number): Sql =>
  sql`id, owner_id, name, created_at_ms, updated_at_ms, records - (SELECT count(*) FROM data_records AS r
    WHERE r.store_id = s.id AND r.generation = s.generation AND r.expires_at_ms <= ${nowMs}) AS size`;

const FROM = raw('data_stores AS s');

interface StoreKey {
  readonly ownerId: string;
  readonly id: string;
  readonly nowMs: number;
}

const one = ({ ownerId, id, nowMs }: StoreKey): Sql =>
  sql`SELECT ${columns(nowMs)} FROM ${FROM} WHERE id = ${id} AND owner_id = ${ownerId}`;

export function dataStoreVerbs(core: ConfigCore): DataStoreStore {
  const { database, clock } = core;
  return {
    createDataStore: (dataStore) =>
      database.writeData(function* () {
        yield* send(sql`INSERT INTO data_stores (id, owner_id, name, generation, records, bytes, created_at_ms, updated_at_ms)
          VALUES (${dataStore.id}, ${dataStore.ownerId}, ${dataStore.name}, 1, 0, 0, ${dataStore.createdAtMs},
            ${dataStore.updatedAtMs})`);
      }),

    renameDataStore: (ownerId, id, { name, atMs, check }) =>
      database.writeData(function* ({ nowMs }) {
        const before = yield* get(sql`SELECT name FROM data_stores
          WHERE id = ${id} AND owner_id = ${ownerId} ${FOR_UPDATE}`);
        if (!before) return undefined;
        check?.(text(before, 'name'));
        yield* send(sql`UPDATE data_stores SET name = ${name}, updated_at_ms = ${atMs}
          WHERE id = ${id} AND owner_id = ${ownerId}`);
        const row = yield* get(one({ ownerId, id, nowMs }));
        return row && toDataStore(row);
      }),

    getDataStore: async (ownerId, id) => {
      const row = await database.get(one({ ownerId, id, nowMs: clock.nowMs() }));
      return row && toDataStore(row);
    },

    listDataStores: (ownerId, page) =>
      readPage(database, {
        from: FROM,
        columns: columns(clock.nowMs()),
        where: [sql`owner_id = ${ownerId}`],
        countUpTo: LIMITS.countedRecords,
        page,
        map: toDataStore,
      }),

    deleteDataStore: (ownerId, id) => database.writeData(({ nowMs }) => deleteStore({ ownerId, id, nowMs })),

    sweepData: async () =>
      (await database.writeData(sweepGone)) || (await database.writeData(({ nowMs }) => sweepExpired(nowMs))),

    ...recordVerbs(core),
  };
}

function* deleteStore(which: StoreKey): Steps<DataStore | undefined> {
  const { ownerId, id } = which;
  // A record that is being set is written first: its writer has locked this row.
  yield* send(sql`SELECT 1 AS one FROM data_stores WHERE id = ${id} AND owner_id = ${ownerId} ${FOR_UPDATE}`);
  const row = yield* get(one(which));
  if (!row) return undefined;
  yield* send(
    sql`INSERT INTO data_gone (store_id, generation) SELECT id, generation FROM data_stores WHERE id = ${id}`,
  );
  yield* send(sql`DELETE FROM data_stores WHERE id = ${id}`);
  return toDataStore(row);
}

/** Deletes a few records of one store that was deleted or cleared. Returns whether there was such a store. */
function* sweepGone(): Steps<boolean> {
  const gone = yield* get(sql`SELECT store_id, generation FROM data_gone LIMIT 1 ${SKIP_LOCKED}`);
  if (!gone) return false;
  const of = sql`store_id = ${text(gone, 'store_id')} AND generation = ${number(gone, 'generation')}`;
  const rows = withinBytes(
    yield* all(sql`SELECT key, bytes FROM data_records WHERE ${of} ORDER BY key LIMIT ${LIMITS.sweptRecords}`),
    SWEPT_BYTES,
  );
  const last = rows.at(-1);
  if (last) yield* send(sql`DELETE FROM data_records WHERE ${of} AND key <= ${text(last, 'key')}`);
  else yield* send(sql`DELETE FROM data_gone WHERE ${of}`);
  return true;
}

/** Deletes a few expired records. Returns whether there were any. */
function* sweepExpired(nowMs: number): Steps<boolean> {
  const expired = yield* all(sql`SELECT store_id, generation, bytes FROM data_records WHERE expires_at_ms <= ${nowMs}
    ORDER BY expires_at_ms LIMIT ${LIMITS.sweptRecords}`);
  const byStore = Map.groupBy(withinBytes(expired, SWEPT_BYTES), (row) => text(row, 'store_id'));
  // In the order of their ids, so that two nodes do not wait for each other.
  for (const [storeId, ofStore] of [...byStore].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    yield* send(sql`SELECT 1 AS one FROM data_stores WHERE id = ${storeId} ${FOR_UPDATE}`);
    for (const [generation, { length: most }] of Map.groupBy(ofStore, (row) => number(row, 'generation'))) {
      const { records, bytes } = yield* deleteExpired({ storeId, generation }, { nowMs, most });
      // A cleared generation is not counted.
      yield* send(sql`UPDATE data_stores SET records = records - CAST (${records} AS BIGINT),
          bytes = bytes - CAST (${bytes} AS BIGINT)
        WHERE id = ${storeId} AND generation = ${generation}`);
    }
  }
  return expired.length > 0;
}
