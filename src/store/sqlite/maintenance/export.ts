// Reads the whole store, for `errand store move`. The file is locked as by a server.

import { existsSync } from 'node:fs';
import type { ExportedRow, ExportedStore, Reading } from '../../contract/export.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { number, present } from '../../rows/cells.ts';
import type { SecretKey } from '../../seal/seal-key.ts';
import { checkSealKey, keptSealKey } from '../config/seal-key.ts';
import { type Connection, openDatabase, type Value } from '../database.ts';
import { readMeta } from '../meta.ts';
import { markMoved, movedTo } from './moved.ts';

export interface ExportOptions {
  /** The place that it is moved to. */
  readonly to: string;
  readonly secretKeys?: readonly SecretKey[];
}

/**
 * Opens a store for a move. Throws `StoreUnavailable` when there is no store, a server uses it, it was moved to another place than
 * `to`, or none of the keys opens its secrets.
 */
export function openExport(path: string, { to, secretKeys = [] }: ExportOptions): ExportedStore {
  if (!existsSync(path)) throw new StoreUnavailable(`there is no store at ${path}`);
  const database = openDatabase(path, (connection) => checkSealKey(connection, { secretKeys }));
  const { reader, writer } = database;
  try {
    const [tag, boot, movedBefore] = [readMeta(reader, 'store_tag'), readMeta(reader, 'boot'), movedTo(reader)];
    if (tag === null || boot === null) throw new StoreUnavailable(`no server was ever started on the store ${path}`);
    if (movedBefore !== null && movedBefore !== to) {
      throw new StoreUnavailable(`the store ${path} was moved to ${movedBefore} already`);
    }
    return {
      label: path,
      tag,
      version: boot,
      sealKey: keptSealKey(reader),
      lastNumber: readMeta(reader, 'last_number'),
      rows: (reading) => rowsOf(reader, reading),
      count: ({ table, where = 'TRUE' }) =>
        number(present(reader.get(`SELECT count(*) AS n FROM ${table} WHERE ${where}`)), 'n'),
      markMoved: (place) => markMoved(writer, place),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function rowsOf(reader: Connection, { table, where, order, after }: Reading): Iterable<ExportedRow> {
  const columns = order.join(', ');
  const conditions = [
    ...(where === undefined ? [] : [`(${where})`]),
    ...(after === null ? [] : [`(${columns}) > (${after.map(() => '?').join(', ')})`]),
  ];
  const only = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const keys = order.includes('rowid') ? 'rowid, *' : '*';
  const statement = reader.db.prepare(`SELECT ${keys} FROM ${table} ${only} ORDER BY ${columns}`);
  return statement.iterate(...((after ?? []) as Value[])) as Iterable<ExportedRow>;
}
