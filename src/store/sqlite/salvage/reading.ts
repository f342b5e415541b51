// Reads a damaged store in one of two ways: its file with the WAL, or without it. The files are copied first and stay unchanged.
// All rows that can be read go into a new store beside the copy.

import { copyFileSync, existsSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { TellProgress } from '../../../ports.ts';
import { number, present, text } from '../../rows/cells.ts';
import { SEAL_KEY } from '../../seal/seal-key.ts';
import { type Connection, openDatabase, type Row } from '../database.ts';
import { readMeta, writeMeta } from '../meta.ts';
import { repairHeader } from './header.ts';
import type { SalvageRepair } from './ledger.ts';
import { repair } from './repairs.ts';
import { countByIndexes, type DamagedRow, scanTable, type Table } from './rows.ts';

export interface TableReport {
  readonly read: number;
  /** Rows that are known to be lost; null: their number is unknown. */
  readonly lost: number | null;
  /** Why rows could not be read. */
  readonly reason?: string;
}

export interface SalvagedStore {
  /** The new store. */
  readonly file: string;
  readonly rows: number;
  readonly tables: Readonly<Record<string, TableReport>>;
  readonly repairs: readonly SalvageRepair[];
  readonly isSealKeyThere: boolean;
}

/** The damaged store, and whether its WAL is used. The paths of files of this reading begin with `place`. */
export interface SalvageAttempt {
  readonly path: string;
  readonly withWal: boolean;
  readonly place: string;
  /** Called with the share of tables that are read. */
  readonly tell: TellProgress;
}

const ROWS_PER_COMMIT = 5000;
const BUSY_MS = 5000;

/** Reads a damaged store into a new one. Throws when nothing can be read. */
export function readDamaged({ path, withWal, place, tell }: SalvageAttempt): SalvagedStore {
  const [copy, file] = [`${place}.damaged`, `${place}.new`];
  copyFileSync(path, copy);
  if (withWal) copyFileSync(`${path}-wal`, `${copy}-wal`);
  const target = openDatabase(file);
  try {
    // A closed store has no WAL, so the file of the template is whole.
    const template = `${place}.template`;
    openDatabase(template).close();
    repairHeader(copy, template);
    const source = new DatabaseSync(copy, { timeout: BUSY_MS });
    try {
      source.exec('PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON');
      return { file, ...copyAll(source, target.writer, tell) };
    } finally {
      close(source);
    }
  } finally {
    target.close();
    for (const name of [copy, `${place}.template`]) removeStore(name);
  }
}

/** Closes the copy, which may fail to write pages of a damaged WAL. */
function close(source: DatabaseSync): void {
  try {
    source.close();
  } catch {
    // The copy is removed anyway.
  }
}

export function removeStore(file: string): void {
  for (const end of ['', '-wal', '-shm', '-lock', '-lock-journal']) rmSync(`${file}${end}`, { force: true });
}

function copyAll(source: DatabaseSync, writer: Connection, tell: TellProgress): Omit<SalvagedStore, 'file'> {
  const there = namesOf(source, "SELECT name FROM sqlite_schema WHERE type = 'table'");
  const tables: Record<string, TableReport> = {};
  let rows = 0;
  const all = writer.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'");
  for (const [n, row] of all.entries()) {
    const table = text(row, 'name');
    if (!there.has(table)) continue;
    const report = copyTable(source, writer, {
      name: table,
      onRows: (read) => tell(`${table}: read ${read} rows`, n / all.length),
    });
    tables[table] = report;
    rows += report.read;
  }
  const isSealKeyThere = readMeta(writer, SEAL_KEY) !== null;
  writer.exec('BEGIN IMMEDIATE');
  const repairs = repair(writer, !isSealKeyThere);
  keepCounting(writer);
  writer.exec('COMMIT');
  return { rows, tables, repairs, isSealKeyThere };
}

interface CopiedTable {
  readonly name: string;
  readonly onRows: (read: number) => void;
}

function copyTable(source: DatabaseSync, writer: Connection, { name, onRows }: CopiedTable): TableReport {
  onRows(0);
  const table = shapeOf(source, writer, name);
  const marks = table.columns.map(() => '?').join(', ');
  const insert = writer.db.prepare(`INSERT OR IGNORE INTO ${name} (${table.columns.join(', ')}) VALUES (${marks})`);
  let [read, unusable] = [0, 0];
  writer.exec('BEGIN IMMEDIATE');
  const { isDamaged, reason } = scanTable(source, table, (row) => {
    if (isUsable(row) && put(row)) read++;
    else unusable++;
    if (read % ROWS_PER_COMMIT !== 0) return;
    writer.exec('COMMIT; BEGIN IMMEDIATE');
    onRows(read);
  });
  writer.exec('COMMIT');
  const known = countByIndexes(source, name);
  if (!isDamaged && unusable === 0) return { read, lost: 0 };
  const lost = known === null ? null : Math.max(0, known - read);
  return {
    read,
    lost,
    reason: reason ?? `${unusable} ${unusable === 1 ? 'row does' : 'rows do'} not fit into this table`,
  };

  function put(row: DamagedRow): boolean {
    try {
      return Number(insert.run(...table.columns.map((column) => row[column] ?? null)).changes) === 1;
    } catch {
      return false;
    }
  }
}

/** Returns false for a body with a zero byte: events are JSON, so its page was overwritten. */
function isUsable({ body }: DamagedRow): boolean {
  return !(body instanceof Uint8Array) || !body.includes(0);
}

/** Returns the columns that both tables have, and the key. Columns that an older schema lacks get their defaults. */
function shapeOf(source: DatabaseSync, writer: Connection, name: string): Table {
  const before = namesOf(source, 'SELECT name FROM pragma_table_info(?)', name);
  const info = writer.all('SELECT name, pk FROM pragma_table_info(?)', name);
  const columns = info.map((row) => text(row, 'name')).filter((column) => before.has(column));
  const made = present(writer.get("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", name));
  const placeOf = (row: Row): number => number(row, 'pk');
  const key = info.filter((row) => placeOf(row) > 0).sort((a, b) => placeOf(a) - placeOf(b));
  return { name, columns, key: /WITHOUT ROWID/.test(text(made, 'sql')) ? key.map((row) => text(row, 'name')) : null };
}

/** Keeps `boot` higher than in all rows, also when `meta` is lost. */
function keepCounting(writer: Connection): void {
  const row = writer.get(`SELECT max(coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'boot'), 0),
    coalesce((SELECT max(boot) FROM runs), 0), coalesce((SELECT max(boot) FROM deliveries), 0)) AS boot`);
  writeMeta(writer, 'boot', String(number(present(row), 'boot')));
}

function namesOf(source: DatabaseSync, sql: string, ...values: string[]): ReadonlySet<string> {
  const rows = source.prepare(sql).all(...values);
  return new Set(rows.map(({ name }) => String(name)));
}

/** Returns the bytes of a file; 0: there is none. */
export function sizeOf(file: string): number {
  return existsSync(file) ? statSync(file).size : 0;
}
