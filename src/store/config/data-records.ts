// The records of data stores. A store's row counts its records and their bytes; expired records count until they are
// deleted. Clearing a store gives it another generation; the old records are deleted in steps. A write locks the store's row
// first, so the counts are exact.

import type { DataRecord } from '../../domain/data.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { DataPlace, RecordCheck, RecordPage, RecordStore, SetRecord } from '../contract/data.ts';
import type { PageQuery } from '../contract/records.ts';
import { number, text } from '../rows/cells.ts';
import { toRecord } from '../rows/data-rows.ts';
import type { Row } from '../rows/rows.ts';
import type { ConfigCore } from './config-database.ts';
import { FOR_UPDATE, isAmongRows, joined, raw, type Sql, sql } from './sql.ts';
import { all, get, type Steps, send, together } from './steps.ts';

/** A store as its row has it. */
interface StoreCounts {
  readonly storeId: string;
  readonly generation: number;
  readonly records: number;
  readonly bytes: number;
}

interface RecordPlace extends DataPlace {
  readonly key: string;
  readonly nowMs: number;
}

const isAlive = (nowMs: number): Sql => sql`(r.expires_at_ms IS NULL OR r.expires_at_ms > ${nowMs})`;

/** Selects the store with its record; without a record, a row of nulls. */
const one = ({ ownerId, storeId, key, nowMs }: RecordPlace): Sql =>
  sql`SELECT r.key, r.value, r.updated_at_ms, r.expires_at_ms
    FROM data_stores AS s LEFT JOIN data_records AS r ON r.store_id = s.id AND r.generation = s.generation
      AND r.key = ${key} AND ${isAlive(nowMs)}
    WHERE s.id = ${storeId} AND s.owner_id = ${ownerId}`;

const lock = ({ ownerId, storeId }: DataPlace): Sql =>
  sql`SELECT generation, records, bytes FROM data_stores WHERE id = ${storeId} AND owner_id = ${ownerId} ${FOR_UPDATE}`;

const generationOf = (storeId: string): Sql => sql`(SELECT generation FROM data_stores WHERE id = ${storeId})`;

/** Selects the size of the record, expired or not, as it is once the store is locked. */
const bytesOf = ({ storeId }: DataPlace, key: string): Sql =>
  sql`SELECT bytes FROM data_records
    WHERE store_id = ${storeId} AND key = ${key} AND generation = ${generationOf(storeId)}`;

export function recordVerbs({ database, clock }: ConfigCore): RecordStore {
  return {
    getRecord: async (place, key) => {
      const row = await database.get(one({ ...place, key, nowMs: clock.nowMs() }));
      return row && { record: joinedRecord(row) };
    },

    hasRecord: async ({ ownerId, storeId }, key) => {
      const row = await database.get(sql`SELECT r.key FROM data_stores AS s
        LEFT JOIN data_records AS r ON r.store_id = s.id AND r.generation = s.generation AND r.key = ${key}
          AND ${isAlive(clock.nowMs())}
        WHERE s.id = ${storeId} AND s.owner_id = ${ownerId}`);
      return row && row.key !== null;
    },

    setRecord: (place, record) => database.writeData(({ nowMs }) => set(place, { ...record, nowMs })),

    expireRecord: (place, key, ttlMs) =>
      database.writeData(function* ({ nowMs }) {
        yield* send(lock(place));
        const row = yield* get(one({ ...place, key, nowMs }));
        const before = row && joinedRecord(row);
        if (!before) return row && { record: null };
        const expiresAtMs = ttlMs === null ? null : nowMs + ttlMs;
        yield* send(sql`UPDATE data_records SET expires_at_ms = ${expiresAtMs}
          WHERE store_id = ${place.storeId} AND key = ${key} AND generation = ${generationOf(place.storeId)}`);
        return { record: { ...before, expiresAtMs } };
      }),

    deleteRecord: (place, key, { check } = {}) =>
      database.writeData(function* ({ nowMs }) {
        const [stores, rows, sizes] = yield* together(lock(place), one({ ...place, key, nowMs }), bytesOf(place, key));
        const of = counted(stores, place);
        const record = rows?.[0] && joinedRecord(rows[0]);
        const size = sizes?.[0];
        if (of) check?.(record ?? null);
        if (!of || !record || !size) return of && { record: null };
        yield* send(sql`DELETE FROM data_records
          WHERE store_id = ${of.storeId} AND generation = ${of.generation} AND key = ${key}`);
        yield* count(of, { records: -1, bytes: -number(size, 'bytes') });
        return { record };
      }),

    clearRecords: (place) =>
      database.writeData(function* () {
        const of = counted(yield* all(lock(place)), place);
        if (!of) return undefined;
        if (of.records === 0) return true as const;
        yield* send(sql`INSERT INTO data_gone (store_id, generation) VALUES (${of.storeId}, ${of.generation})`);
        yield* send(sql`UPDATE data_stores SET generation = generation + 1, records = 0, bytes = 0
          WHERE id = ${of.storeId}`);
        return true as const;
      }),

    listRecordKeys: async ({ ownerId, storeId }, after) => {
      const rows = await database.planned(sql`SELECT k.key FROM data_stores AS s
        LEFT JOIN (SELECT r.key FROM data_records AS r
          WHERE r.store_id = ${storeId} AND r.generation = ${generationOf(storeId)} AND r.key > ${after ?? ''}
            AND ${isAlive(clock.nowMs())}
          ORDER BY r.key LIMIT ${LIMITS.keysPerPage}) AS k ON true
        WHERE s.id = ${storeId} AND s.owner_id = ${ownerId} ORDER BY k.key`);
      if (rows.length === 0) return undefined;
      return rows.filter((row) => row.key !== null).map((row) => text(row, 'key'));
    },

    listRecords: async (place, page) => {
      const rows = await database.planned(pageOf(place, page, clock.nowMs()));
      const [first] = rows;
      if (!first) return undefined;
      const items = rows.map(joinedRecord).filter((record) => record !== null);
      return { totalCount: number(first, 'total'), items } satisfies RecordPage;
    },
  };
}

function counted(rows: readonly Row[] | undefined, { storeId }: DataPlace): StoreCounts | undefined {
  const row = rows?.[0];
  if (!row) return undefined;
  return {
    storeId,
    generation: number(row, 'generation'),
    records: number(row, 'records'),
    bytes: number(row, 'bytes'),
  };
}

/** Returns the record that was joined with its store; null when the store has none. */
function joinedRecord(row: Row): DataRecord | null {
  return row.key === null ? null : toRecord(row);
}

interface Setting extends RecordCheck {
  readonly key: string;
  readonly value: string;
  readonly ttlMs: number | null;
  readonly nowMs: number;
}

function* set(place: DataPlace, { key, value, ttlMs, nowMs, check }: Setting): Steps<SetRecord | undefined> {
  const [stores, sizes] = yield* together(lock(place), bytesOf(place, key));
  const of = counted(stores, place);
  if (!of) return undefined;
  if (check) {
    const row = yield* get(one({ ...place, key, nowMs }));
    check(row ? joinedRecord(row) : null);
  }
  const before = sizes?.[0] && number(sizes[0], 'bytes');
  const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
  const change = { records: before === undefined ? 1 : 0, bytes: bytes - (before ?? 0) };
  let full = fullBy(of, change);
  if (full) full = fullBy(yield* makeRoom(of, { nowMs, key }), change);
  if (full) return { full };
  const expiresAtMs = ttlMs === null ? null : nowMs + ttlMs;
  yield* send(sql`INSERT INTO data_records (store_id, generation, key, bytes, expires_at_ms, updated_at_ms, value)
    VALUES (${of.storeId}, ${of.generation}, ${key}, ${bytes}, ${expiresAtMs}, ${nowMs}, ${value})
    ON CONFLICT (store_id, generation, key) DO UPDATE SET bytes = excluded.bytes,
      expires_at_ms = excluded.expires_at_ms, updated_at_ms = excluded.updated_at_ms, value = excluded.value`);
  yield* count(of, change);
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

function* count({ storeId }: StoreCounts, { records, bytes }: Change): Steps<void> {
  if (records === 0 && bytes === 0) return;
  yield* send(sql`UPDATE data_stores SET records = records + CAST (${records} AS BIGINT),
    bytes = bytes + CAST (${bytes} AS BIGINT) WHERE id = ${storeId}`);
}

/** Deletes expired records that still count, except the record of this key, which is about to be replaced. */
function* makeRoom(of: StoreCounts, { nowMs, key }: { nowMs: number; key: string }): Steps<StoreCounts> {
  const gone = yield* deleteExpired(of, { nowMs, most: LIMITS.sweptRecords, except: key });
  yield* count(of, { records: -gone.records, bytes: -gone.bytes });
  return { ...of, records: of.records - gone.records, bytes: of.bytes - gone.bytes };
}

interface Expired {
  readonly nowMs: number;
  readonly most: number;
  /** A key that is not deleted. */
  readonly except?: string;
}

/** Deletes the records that expired first. The caller has locked the store, and changes its counts. */
export function* deleteExpired(
  { storeId, generation }: Pick<StoreCounts, 'storeId' | 'generation'>,
  { nowMs, most, except }: Expired,
): Steps<Change> {
  const oldest = sql`SELECT key FROM data_records WHERE store_id = ${storeId} AND generation = ${generation}
    AND expires_at_ms <= ${nowMs}${except === undefined ? raw('') : sql` AND key <> ${except}`}
    ORDER BY expires_at_ms LIMIT ${most}`;
  const gone = yield* all(sql`DELETE FROM data_records
    WHERE store_id = ${storeId} AND generation = ${generation} AND key ${isAmongRows(oldest)} RETURNING bytes`);
  return { records: gone.length, bytes: gone.reduce((sum, row) => sum + number(row, 'bytes'), 0) };
}

/** Selects the sizes first, then the records that fit: a page of the largest records would be a hundred megabytes. */
function pageOf({ ownerId, storeId }: DataPlace, { after, before, limit }: PageQuery, nowMs: number): Sql {
  const direction = raw(before !== undefined && after === undefined ? 'DESC' : 'ASC');
  const cursors = [
    ...(after === undefined ? [] : [sql` AND r.key > ${after}`]),
    ...(before === undefined ? [] : [sql` AND r.key < ${before}`]),
  ];
  return sql`SELECT s.records - (SELECT count(*) FROM data_records AS e WHERE e.store_id = s.id
        AND e.generation = s.generation AND e.expires_at_ms <= ${nowMs}) AS total,
      r.key, r.value, r.updated_at_ms, r.expires_at_ms
    FROM data_stores AS s
    LEFT JOIN (SELECT key, sum(bytes) OVER (ORDER BY key ${direction}) - bytes AS bytes_before FROM (
      SELECT r.key, r.bytes FROM data_records AS r
        WHERE r.store_id = ${storeId} AND r.generation = ${generationOf(storeId)}${joined(cursors, '')} AND ${isAlive(nowMs)}
        ORDER BY r.key ${direction} LIMIT ${limit}) AS sizes) AS fit ON fit.bytes_before < ${LIMITS.recordPageBytes}
    LEFT JOIN data_records AS r ON r.store_id = s.id AND r.generation = s.generation AND r.key = fit.key
    WHERE s.id = ${storeId} AND s.owner_id = ${ownerId} ORDER BY fit.key`;
}
