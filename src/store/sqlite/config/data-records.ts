// The records of data stores. How many there are, and how large they are together, is counted with their store; what has
// expired is counted until it is deleted. What is cleared gets another generation, and is deleted in steps.

import type { DataRecord } from '../../../domain/data.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { DataPlace, RecordPage, RecordStore, SetRecord } from '../../contract/data.ts';
import type { PageQuery } from '../../contract/records.ts';
import { toRecord } from '../../rows/data-rows.ts';
import type { Core } from '../core.ts';
import type { Connection, Row, Value } from '../database.ts';

/** A store as its row has it. */
interface Counted {
  readonly storeId: string;
  readonly generation: number;
  readonly records: number;
  readonly bytes: number;
}

const ONE = 'store_id = ? AND generation = ? AND key = ?';
const ALIVE = '(expires_at_ms IS NULL OR expires_at_ms > ?)';
const SHOWN = 'key, value, updated_at_ms, expires_at_ms';

export function recordVerbs(core: Core): RecordStore {
  const { reader, writer, clock } = core;
  return {
    getRecord: async (place, key) => {
      const found = counted(reader, place);
      return found && { record: read(reader, found, { key, nowMs: clock.nowMs() }) };
    },

    hasRecord: async (place, key) => {
      const found = counted(reader, place);
      if (!found) return undefined;
      const sql = `SELECT 1 FROM data_records WHERE ${ONE} AND ${ALIVE}`;
      return reader.get(sql, found.storeId, found.generation, key, clock.nowMs()) !== undefined;
    },

    setRecord: (place, record) =>
      core.batch.write((tx) => {
        const found = counted(writer, place);
        return found && set(writer, found, { ...record, nowMs: tx.nowMs });
      }),

    expireRecord: (place, key, ttlMs) =>
      core.batch.write((tx) => {
        const found = counted(writer, place);
        const before = found && read(writer, found, { key, nowMs: tx.nowMs });
        if (!found || !before) return found && { record: null };
        const expiresAtMs = ttlMs === null ? null : tx.nowMs + ttlMs;
        const sql = `UPDATE data_records SET expires_at_ms = ? WHERE ${ONE}`;
        writer.run(sql, expiresAtMs, found.storeId, found.generation, key);
        return { record: { ...before, expiresAtMs } };
      }),

    deleteRecord: (place, key) =>
      core.batch.write((tx) => {
        const found = counted(writer, place);
        const record = found && read(writer, found, { key, nowMs: tx.nowMs });
        if (!found || !record) return found && { record: null };
        const bytes = bytesOf(writer, found, key) ?? 0;
        writer.run(`DELETE FROM data_records WHERE ${ONE}`, found.storeId, found.generation, key);
        count(writer, found, { records: -1, bytes: -bytes });
        return { record };
      }),

    clearRecords: (place) =>
      core.batch.write(() => {
        const found = counted(writer, place);
        if (!found) return undefined;
        if (found.records === 0) return true as const;
        writer.run('INSERT INTO data_gone (store_id, generation) VALUES (?,?)', found.storeId, found.generation);
        const sql = 'UPDATE data_stores SET generation = generation + 1, records = 0, bytes = 0 WHERE id = ?';
        writer.run(sql, found.storeId);
        return true as const;
      }),

    listRecordKeys: async (place, after) => {
      const found = counted(reader, place);
      if (!found) return undefined;
      const sql = `SELECT key FROM data_records WHERE store_id = ? AND generation = ? AND key > ? AND ${ALIVE}
        ORDER BY key LIMIT ${LIMITS.keysPerPage}`;
      const rows = reader.all(sql, found.storeId, found.generation, after ?? '', clock.nowMs());
      return rows.map((row) => row.key as string);
    },

    listRecords: async (place, page) => {
      const found = counted(reader, place);
      return found && list(reader, found, { page, nowMs: clock.nowMs() });
    },
  };
}

function counted(connection: Connection, { ownerId, storeId }: DataPlace): Counted | undefined {
  const sql = 'SELECT generation, records, bytes FROM data_stores WHERE id = ? AND owner_id = ?';
  const row = connection.get(sql, storeId, ownerId);
  return row && ({ storeId, ...row } as unknown as Counted);
}

function read(connection: Connection, of: Counted, { key, nowMs }: { key: string; nowMs: number }): DataRecord | null {
  const sql = `SELECT ${SHOWN} FROM data_records WHERE ${ONE} AND ${ALIVE}`;
  const row = connection.get(sql, of.storeId, of.generation, key, nowMs);
  return row ? toRecord(row) : null;
}

interface Setting {
  readonly key: string;
  readonly value: string;
  readonly ttlMs: number | null;
  readonly nowMs: number;
}

function set(writer: Connection, of: Counted, { key, value, ttlMs, nowMs }: Setting): SetRecord {
  const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
  const before = bytesOf(writer, of, key);
  const change = { records: before === undefined ? 1 : 0, bytes: bytes - (before ?? 0) };
  let full = fullBy(of, change);
  if (full) full = fullBy(dropExpired(writer, of, { nowMs, key }), change);
  if (full) return { full };
  const expiresAtMs = ttlMs === null ? null : nowMs + ttlMs;
  writer.run(
    `INSERT INTO data_records (store_id, generation, key, bytes, expires_at_ms, updated_at_ms, value)
      VALUES (?,?,?,?,?,?,?)
      ON CONFLICT DO UPDATE SET bytes = excluded.bytes, expires_at_ms = excluded.expires_at_ms,
        updated_at_ms = excluded.updated_at_ms, value = excluded.value`,
    of.storeId,
    of.generation,
    key,
    bytes,
    expiresAtMs,
    nowMs,
    value,
  );
  count(writer, of, change);
  return { record: { key, value, updatedAtMs: nowMs, expiresAtMs } };
}

function bytesOf(connection: Connection, of: Counted, key: string): number | undefined {
  const row = connection.get(`SELECT bytes FROM data_records WHERE ${ONE}`, of.storeId, of.generation, key);
  return row?.bytes as number | undefined;
}

interface Change {
  readonly records: number;
  readonly bytes: number;
}

function fullBy({ records, bytes }: Change, change: Change): 'records' | 'bytes' | null {
  if (change.records > 0 && records + change.records > LIMITS.recordsPerDataStore) return 'records';
  return change.bytes > 0 && bytes + change.bytes > LIMITS.dataStoreBytes ? 'bytes' : null;
}

function count(writer: Connection, { storeId }: Counted, { records, bytes }: Change): void {
  if (records === 0 && bytes === 0) return;
  const sql = 'UPDATE data_stores SET records = records + ?, bytes = bytes + ? WHERE id = ?';
  writer.run(sql, records, bytes, storeId);
}

/** Makes room: what has expired is still counted. The record that is being set stays, since it is counted as there. */
function dropExpired(writer: Connection, of: Counted, { nowMs, key }: { nowMs: number; key: string }): Counted {
  const rows = writer.all(
    `SELECT rowid AS place, bytes FROM data_records
      WHERE store_id = ? AND generation = ? AND expires_at_ms <= ? AND key <> ? LIMIT ${LIMITS.sweptRecords}`,
    of.storeId,
    of.generation,
    nowMs,
    key,
  );
  let bytes = 0;
  for (const row of rows) {
    writer.run('DELETE FROM data_records WHERE rowid = ?', row.place as number);
    bytes += row.bytes as number;
  }
  count(writer, of, { records: -rows.length, bytes: -bytes });
  return { ...of, records: of.records - rows.length, bytes: of.bytes - bytes };
}

/** First how large they are, then those that fit: a page of the largest ones would be a hundred megabytes. */
function list(reader: Connection, of: Counted, { page, nowMs }: { page: PageQuery; nowMs: number }): RecordPage {
  const isBackwards = page.before !== undefined && page.after === undefined;
  const direction = isBackwards ? 'DESC' : 'ASC';
  const where = ['store_id = ?', 'generation = ?', ALIVE];
  const values: Value[] = [of.storeId, of.generation, nowMs];
  for (const [sign, cursor] of [['>', page.after] as const, ['<', page.before] as const]) {
    if (cursor === undefined) continue;
    where.push(`key ${sign} ?`);
    values.push(cursor);
  }
  const sizes = `SELECT key, bytes FROM data_records WHERE ${where.join(' AND ')} ORDER BY key ${direction} LIMIT ?`;
  const keys = fitting(reader.all(sizes, ...values, page.limit));
  const expired = `SELECT count(*) AS n FROM data_records WHERE store_id = ? AND generation = ? AND expires_at_ms <= ?`;
  const totalCount = of.records - (reader.get(expired, of.storeId, of.generation, nowMs)?.n as number);
  const items = keys.map((key) => read(reader, of, { key, nowMs })).filter((record) => record !== null);
  return { totalCount, items: isBackwards ? items.reverse() : items };
}

function fitting(rows: readonly Row[]): string[] {
  let bytes = 0;
  const keys: string[] = [];
  for (const row of rows) {
    if (bytes >= LIMITS.recordPageBytes) break;
    bytes += row.bytes as number;
    keys.push(row.key as string);
  }
  return keys;
}
