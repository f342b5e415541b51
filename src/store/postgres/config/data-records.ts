// The records of data stores. How many there are, and how large they are together, is counted with their store; what has
// expired is counted until it is deleted. What is cleared gets another generation, and is deleted in steps. Whoever writes a
// record locks the store's row first, so the counts are exact.

import type { DataRecord } from '../../../domain/data.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { DataPlace, RecordPage, RecordStore, SetRecord } from '../../contract/data.ts';
import type { PageQuery } from '../../contract/records.ts';
import { toRecord } from '../../rows/data-rows.ts';
import type { Pool } from '../connection/pool.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Row, Value } from '../connection/values.ts';
import type { Core } from '../core.ts';

/** A store as its row has it, and the record in question. */
interface Counted {
  readonly storeId: string;
  readonly generation: number;
  readonly records: number;
  readonly bytes: number;
}

const SHOWN = 'r.key, r.value, r.updated_at_ms, r.expires_at_ms';

/** The store and its records that have not expired; without any, one row of nulls. */
const joined = (columns: string, of: string): string =>
  `SELECT ${columns} FROM data_stores AS s LEFT JOIN data_records AS r ON r.store_id = s.id
      AND r.generation = s.generation AND ${of} AND (r.expires_at_ms IS NULL OR r.expires_at_ms > $3::bigint)
    WHERE s.id = $1 AND s.owner_id = $2`;

const GET = joined(SHOWN, 'r.key = $4');
const HAS = joined('r.key', 'r.key = $4');

export function recordVerbs(core: Core): RecordStore {
  const { pool, data, clock } = core;
  return {
    getRecord: async ({ ownerId, storeId }, key) => {
      const row = await pool.get(GET, storeId, ownerId, clock.nowMs(), key);
      return row && { record: joinedRecord(row) };
    },

    hasRecord: async ({ ownerId, storeId }, key) => {
      const row = await pool.get(HAS, storeId, ownerId, clock.nowMs(), key);
      return row && row.key !== null;
    },

    setRecord: (place, record) => data.transact((tx) => set(tx, place, { ...record, nowMs: clock.nowMs() })),

    expireRecord: ({ ownerId, storeId }, key, ttlMs) =>
      data.transact(async (tx) => {
        const nowMs = clock.nowMs();
        lock(tx, { ownerId, storeId });
        const [row] = await tx.query(GET, storeId, ownerId, nowMs, key);
        const before = row && joinedRecord(row);
        if (!before) return row && { record: null };
        const expiresAtMs = ttlMs === null ? null : nowMs + ttlMs;
        await tx.query(
          `UPDATE data_records SET expires_at_ms = $3 WHERE store_id = $1 AND key = $2
            AND generation = (SELECT generation FROM data_stores WHERE id = $1)`,
          storeId,
          key,
          expiresAtMs,
        );
        return { record: { ...before, expiresAtMs } };
      }),

    deleteRecord: ({ ownerId, storeId }, key) =>
      data.transact(async (tx) => {
        lock(tx, { ownerId, storeId });
        const [row] = await tx.query(GET, storeId, ownerId, clock.nowMs(), key);
        const record = row && joinedRecord(row);
        if (!record) return row && { record: null };
        await tx.query(
          `WITH gone AS (DELETE FROM data_records WHERE store_id = $1 AND key = $2
              AND generation = (SELECT generation FROM data_stores WHERE id = $1) RETURNING bytes)
            UPDATE data_stores SET records = records - 1, bytes = data_stores.bytes - gone.bytes FROM gone WHERE id = $1`,
          storeId,
          key,
        );
        return { record };
      }),

    clearRecords: ({ ownerId, storeId }) =>
      data.transact(async (tx) => {
        const found = counted(await lock(tx, { ownerId, storeId }), storeId);
        if (!found) return undefined;
        if (found.records === 0) return true as const;
        void tx.query('INSERT INTO data_gone (store_id, generation) VALUES ($1, $2)', storeId, found.generation);
        await tx.query(
          'UPDATE data_stores SET generation = generation + 1, records = 0, bytes = 0 WHERE id = $1',
          storeId,
        );
        return true as const;
      }),

    listRecordKeys: async ({ ownerId, storeId }, after) => {
      const rows = await pool.planned(
        `SELECT r.key FROM data_stores AS s LEFT JOIN LATERAL (SELECT key FROM data_records
            WHERE store_id = $1 AND generation = s.generation AND key > $4
              AND (expires_at_ms IS NULL OR expires_at_ms > $3::bigint)
            ORDER BY key LIMIT ${LIMITS.keysPerPage}) AS r ON true
          WHERE s.id = $1 AND s.owner_id = $2 ORDER BY r.key`,
        storeId,
        ownerId,
        clock.nowMs(),
        after ?? '',
      );
      if (rows.length === 0) return undefined;
      return rows.filter((row) => row.key !== null).map((row) => row.key as string);
    },

    listRecords: (place, page) => list(pool, place, { page, nowMs: clock.nowMs() }),
  };
}

function lock(tx: Tx, { ownerId, storeId }: DataPlace): Promise<Row[]> {
  return tx.query(
    'SELECT generation, records, bytes FROM data_stores WHERE id = $1 AND owner_id = $2 FOR UPDATE',
    storeId,
    ownerId,
  );
}

function counted([row]: readonly Row[], storeId: string): Counted | undefined {
  return row && ({ storeId, ...row } as unknown as Counted);
}

interface Setting {
  readonly key: string;
  readonly value: string;
  readonly ttlMs: number | null;
  readonly nowMs: number;
}

async function set(tx: Tx, place: DataPlace, { key, value, ttlMs, nowMs }: Setting): Promise<SetRecord | undefined> {
  const { storeId } = place;
  // The second one sees what was written before the first one had its lock.
  const [locked, [before]] = await Promise.all([
    lock(tx, place),
    tx.query(
      `SELECT bytes FROM data_records WHERE store_id = $1 AND key = $2
        AND generation = (SELECT generation FROM data_stores WHERE id = $1)`,
      storeId,
      key,
    ),
  ]);
  const of = counted(locked, storeId);
  if (!of) return undefined;
  const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
  const change = { records: before === undefined ? 1 : 0, bytes: bytes - ((before?.bytes as number) ?? 0) };
  let full = fullBy(of, change);
  if (full) full = fullBy(await dropExpired(tx, of, { nowMs, key }), change);
  if (full) return { full };
  const expiresAtMs = ttlMs === null ? null : nowMs + ttlMs;
  void tx.query(
    `INSERT INTO data_records (store_id, generation, key, bytes, expires_at_ms, updated_at_ms, value)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (store_id, generation, key) DO UPDATE SET bytes = excluded.bytes,
        expires_at_ms = excluded.expires_at_ms, updated_at_ms = excluded.updated_at_ms, value = excluded.value`,
    storeId,
    of.generation,
    key,
    bytes,
    expiresAtMs,
    nowMs,
    value,
  );
  count(tx, of, change);
  return { record: { key, value, updatedAtMs: nowMs, expiresAtMs } };
}

interface Change {
  readonly records: number;
  readonly bytes: number;
}

function fullBy({ records, bytes }: Change, change: Change): 'records' | 'bytes' | null {
  if (change.records > 0 && records + change.records > LIMITS.recordsPerDataStore) return 'records';
  return change.bytes > 0 && bytes + change.bytes > LIMITS.dataStoreBytes ? 'bytes' : null;
}

function count(tx: Tx, { storeId }: Counted, { records, bytes }: Change): void {
  if (records === 0 && bytes === 0) return;
  void tx.query(
    'UPDATE data_stores SET records = records + $2::bigint, bytes = bytes + $3::bigint WHERE id = $1',
    storeId,
    records,
    bytes,
  );
}

/** Makes room: what has expired is still counted. The record that is being set stays, since it is counted as there. */
async function dropExpired(tx: Tx, of: Counted, { nowMs, key }: { nowMs: number; key: string }): Promise<Counted> {
  const gone = await tx.query(
    `DELETE FROM data_records WHERE store_id = $1 AND generation = $2 AND key = ANY (ARRAY(SELECT key FROM data_records
        WHERE store_id = $1 AND generation = $2 AND expires_at_ms <= $3::bigint AND key <> $4
        ORDER BY expires_at_ms LIMIT ${LIMITS.sweptRecords}))
      RETURNING bytes`,
    of.storeId,
    of.generation,
    nowMs,
    key,
  );
  const bytes = gone.reduce((sum, row) => sum + (row.bytes as number), 0);
  count(tx, of, { records: -gone.length, bytes: -bytes });
  return { ...of, records: of.records - gone.length, bytes: of.bytes - bytes };
}

interface ListOf {
  readonly page: PageQuery;
  readonly nowMs: number;
}

async function list(
  pool: Pool,
  { ownerId, storeId }: DataPlace,
  { page, nowMs }: ListOf,
): Promise<RecordPage | undefined> {
  const isBackwards = page.before !== undefined && page.after === undefined;
  const direction = isBackwards ? 'DESC' : 'ASC';
  const values: Value[] = [storeId, ownerId, nowMs, page.limit];
  const within = [['>', page.after] as const, ['<', page.before] as const].flatMap(([sign, cursor]) =>
    cursor === undefined ? [] : [`AND key ${sign} $${values.push(cursor)}`],
  );
  // A page of the largest values would be a hundred megabytes: it ends when it is large enough.
  const rows = await pool.planned(
    `SELECT s.records - (SELECT count(*) FROM data_records AS e WHERE e.store_id = s.id
          AND e.generation = s.generation AND e.expires_at_ms <= $3::bigint) AS total, ${SHOWN}
      FROM data_stores AS s LEFT JOIN LATERAL (
        SELECT p.*, sum(bytes) OVER (ORDER BY key ${direction}) - bytes AS bytes_before FROM (
          SELECT key, value, bytes, updated_at_ms, expires_at_ms FROM data_records
            WHERE store_id = $1 AND generation = s.generation ${within.join(' ')}
              AND (expires_at_ms IS NULL OR expires_at_ms > $3::bigint)
            ORDER BY key ${direction} LIMIT $4) AS p) AS r ON r.bytes_before < ${LIMITS.recordPageBytes}
      WHERE s.id = $1 AND s.owner_id = $2 ORDER BY r.key`,
    ...values,
  );
  const [first] = rows;
  if (!first) return undefined;
  return { totalCount: first.total as number, items: rows.map(joinedRecord).filter((record) => record !== null) };
}

/** Of a store that was joined with its record: null when it has none. */
function joinedRecord(row: Row): DataRecord | null {
  return row.key === null ? null : toRecord(row);
}
