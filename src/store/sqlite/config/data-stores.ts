// Data stores: their records, and what is left of those that are gone.

import type { DataStore } from '../../../domain/data.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { DataPlace, DataStoreStore } from '../../contract/data.ts';
import { few } from '../../rows/byte-limit.ts';
import { toDataStore } from '../../rows/data-rows.ts';
import type { Core } from '../core.ts';
import type { Connection, Row } from '../database.ts';
import { readPage } from '../pages.ts';
import { recordVerbs } from './data-records.ts';

/** Freed in one transaction, about: a value of a megabyte is a chain of pages, each of which is read when it is freed. */
const SWEPT_BYTES = 4 * 1024 * 1024;

/** Of a store, with its records that have not expired; the time of now comes first among the values. */
const COLUMNS = `id, owner_id, name, created_at_ms, updated_at_ms, records - (SELECT count(*) FROM data_records AS r
  WHERE r.store_id = data_stores.id AND r.generation = data_stores.generation AND r.expires_at_ms <= ?) AS size`;

export function dataStoreVerbs(core: Core): DataStoreStore {
  const { reader, writer, clock } = core;
  const get = (connection: Connection, { ownerId, storeId }: DataPlace): DataStore | undefined => {
    const sql = `SELECT ${COLUMNS} FROM data_stores WHERE id = ? AND owner_id = ?`;
    const row = connection.get(sql, clock.nowMs(), storeId, ownerId);
    return row && toDataStore(row);
  };
  return {
    createDataStore: (dataStore) => core.batch.write(() => insert(writer, dataStore)),

    renameDataStore: (ownerId, id, { name, atMs }) =>
      core.batch.write(() => {
        const sql = 'UPDATE data_stores SET name = ?, updated_at_ms = ? WHERE id = ? AND owner_id = ?';
        return writer.run(sql, name, atMs, id, ownerId) === 1 ? get(writer, { ownerId, storeId: id }) : undefined;
      }),

    getDataStore: async (ownerId, id) => get(reader, { ownerId, storeId: id }),

    listDataStores: async (ownerId, page) => {
      const listing = {
        from: 'data_stores',
        columns: COLUMNS.replace('?', String(clock.nowMs())),
        key: 'id',
        where: ['owner_id = ?'],
        values: [ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(reader, listing, { page, map: toDataStore });
    },

    deleteDataStore: (ownerId, id) =>
      core.batch.write(() => {
        const before = get(writer, { ownerId, storeId: id });
        if (!before) return undefined;
        writer.run('INSERT INTO data_gone SELECT id, generation FROM data_stores WHERE id = ?', id);
        writer.run('DELETE FROM data_stores WHERE id = ?', id);
        return before;
      }),

    sweepData: () => core.batch.write((tx) => sweepGone(writer) || sweepExpired(writer, tx.nowMs)),

    ...recordVerbs(core),
  };
}

function insert(writer: Connection, dataStore: DataStore): void {
  writer.run(
    `INSERT INTO data_stores (id, owner_id, name, generation, records, bytes, created_at_ms, updated_at_ms)
      VALUES (?,?,?,1,0,0,?,?)`,
    dataStore.id,
    dataStore.ownerId,
    dataStore.name,
    dataStore.createdAtMs,
    dataStore.updatedAtMs,
  );
}

/** A few records of one store that is gone or was cleared. Whether it did anything. */
function sweepGone(writer: Connection): boolean {
  const gone = writer.get('SELECT store_id, generation FROM data_gone LIMIT 1');
  if (!gone) return false;
  const { store_id: storeId, generation } = gone as { store_id: string; generation: number };
  const next = `SELECT rowid AS place, bytes FROM data_records WHERE store_id = ? AND generation = ?
    LIMIT ${LIMITS.sweptRecords}`;
  const rows = writer.all(next, storeId, generation);
  for (const { place } of few(rows, SWEPT_BYTES))
    writer.run('DELETE FROM data_records WHERE rowid = ?', place as number);
  if (rows.length === 0) writer.run('DELETE FROM data_gone WHERE store_id = ? AND generation = ?', storeId, generation);
  return true;
}

/** A few records that have expired; whether it found any. */
function sweepExpired(writer: Connection, nowMs: number): boolean {
  const next = `SELECT rowid AS place, store_id, generation, bytes FROM data_records WHERE expires_at_ms <= ?
    ORDER BY expires_at_ms LIMIT ${LIMITS.sweptRecords}`;
  const rows = few(writer.all(next, nowMs), SWEPT_BYTES);
  for (const row of rows) {
    writer.run('DELETE FROM data_records WHERE rowid = ?', row.place as number);
    uncount(writer, row);
  }
  return rows.length > 0;
}

/** Of a generation that was cleared, nothing is counted. */
function uncount(writer: Connection, row: Row): void {
  writer.run(
    'UPDATE data_stores SET records = records - 1, bytes = bytes - ? WHERE id = ? AND generation = ?',
    row.bytes as number,
    row.store_id as string,
    row.generation as number,
  );
}
