// Data stores: their records, and what is left of those that are gone.

import type { DataStore } from '../../../domain/data.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { DataStoreStore } from '../../contract/data.ts';
import { toDataStore } from '../../rows/data-rows.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Core } from '../core.ts';
import { readPage } from '../pages.ts';
import { recordVerbs } from './data-records.ts';

/** Of a store, with its records that have not expired by the time that the first parameter says. */
const COLUMNS = `id, owner_id, name, created_at_ms, updated_at_ms, records - (SELECT count(*) FROM data_records AS r
  WHERE r.store_id = s.id AND r.generation = s.generation AND r.expires_at_ms <= $1::bigint) AS size`;

const ONE = `SELECT ${COLUMNS} FROM data_stores AS s WHERE id = $2 AND owner_id = $3`;

export function dataStoreVerbs(core: Core): DataStoreStore {
  const { pool, data, clock } = core;
  return {
    createDataStore: (dataStore) => data.transact((tx) => insert(tx, dataStore)),

    renameDataStore: (ownerId, id, { name, atMs }) =>
      data.transact(async (tx) => {
        void tx.query(
          'UPDATE data_stores SET name = $3, updated_at_ms = $4 WHERE id = $1 AND owner_id = $2',
          id,
          ownerId,
          name,
          atMs,
        );
        const [row] = await tx.query(ONE, clock.nowMs(), id, ownerId);
        return row && toDataStore(row);
      }),

    getDataStore: async (ownerId, id) => {
      const row = await pool.get(ONE, clock.nowMs(), id, ownerId);
      return row && toDataStore(row);
    },

    listDataStores: (ownerId, page) => {
      const listing = {
        from: 'data_stores AS s',
        columns: COLUMNS.replace('$1', String(clock.nowMs())),
        key: 'id',
        where: ['owner_id = $1'],
        values: [ownerId],
        countUpTo: LIMITS.countedRecords,
      };
      return readPage(pool, listing, { page, map: toDataStore });
    },

    deleteDataStore: (ownerId, id) =>
      data.transact(async (tx) => {
        // Whoever sets a record has the row locked until it is written: it is not left behind.
        void tx.query('SELECT 1 AS one FROM data_stores WHERE id = $1 AND owner_id = $2 FOR UPDATE', id, ownerId);
        const [row] = await tx.query(ONE, clock.nowMs(), id, ownerId);
        if (!row) return undefined;
        await tx.query(
          `WITH gone AS (DELETE FROM data_stores WHERE id = $1 RETURNING id, generation)
            INSERT INTO data_gone (store_id, generation) SELECT id, generation FROM gone`,
          id,
        );
        return toDataStore(row);
      }),

    sweepData: async () =>
      (await data.transact(sweepGone)) || (await data.transact((tx) => sweepExpired(tx, clock.nowMs()))),

    ...recordVerbs(core),
  };
}

async function insert(tx: Tx, dataStore: DataStore): Promise<void> {
  await tx.query(
    `INSERT INTO data_stores (id, owner_id, name, generation, records, bytes, created_at_ms, updated_at_ms)
      VALUES ($1, $2, $3, 1, 0, 0, $4, $5)`,
    dataStore.id,
    dataStore.ownerId,
    dataStore.name,
    dataStore.createdAtMs,
    dataStore.updatedAtMs,
  );
}

/** A few records of one store that is gone or was cleared; another node takes another one. Whether it did anything. */
async function sweepGone(tx: Tx): Promise<boolean> {
  const [gone] = await tx.query('SELECT store_id, generation FROM data_gone LIMIT 1 FOR UPDATE SKIP LOCKED');
  if (!gone) return false;
  const { store_id: storeId, generation } = gone as { store_id: string; generation: number };
  const deleted = await tx.query(
    `DELETE FROM data_records WHERE store_id = $1 AND generation = $2 AND key = ANY (ARRAY(
        SELECT key FROM data_records WHERE store_id = $1 AND generation = $2 ORDER BY key LIMIT ${LIMITS.sweptRecords}))
      RETURNING 1 AS one`,
    storeId,
    generation,
  );
  if (deleted.length > 0) return true;
  await tx.query('DELETE FROM data_gone WHERE store_id = $1 AND generation = $2', storeId, generation);
  return true;
}

/** A few records that have expired, of stores that nobody writes to at the moment. Whether it deleted any. */
async function sweepExpired(tx: Tx, nowMs: number): Promise<boolean> {
  void tx.query(
    `SELECT 1 AS one FROM data_stores WHERE id IN (SELECT store_id FROM data_records WHERE expires_at_ms <= $1::bigint
        ORDER BY expires_at_ms LIMIT ${LIMITS.sweptRecords}) ORDER BY id FOR UPDATE`,
    nowMs,
  );
  // Looked for again with the locks: a record may have been set anew meanwhile. Of a generation that was cleared, nothing
  // is counted.
  const [row] = await tx.query(
    `WITH doomed AS (SELECT store_id, generation, key FROM data_records WHERE expires_at_ms <= $1::bigint
        ORDER BY expires_at_ms LIMIT ${LIMITS.sweptRecords} FOR UPDATE SKIP LOCKED),
      gone AS (DELETE FROM data_records AS r USING doomed AS d WHERE r.store_id = d.store_id
        AND r.generation = d.generation AND r.key = d.key RETURNING r.store_id, r.generation, r.bytes),
      sums AS (SELECT store_id, generation, count(*) AS records, sum(bytes)::bigint AS bytes FROM gone GROUP BY 1, 2),
      uncounted AS (UPDATE data_stores AS s SET records = s.records - g.records, bytes = s.bytes - g.bytes
        FROM sums AS g WHERE s.id = g.store_id AND s.generation = g.generation)
      SELECT count(*) AS n FROM gone`,
    nowMs,
  );
  return (row?.n as number) > 0;
}
