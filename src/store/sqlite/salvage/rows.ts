// Reads the rows of a table in a damaged file that SQLite can reach. SQLite fails at a damaged page, so a table is read from its
// beginning up to that page, from its end down to it, and, if rows have numbers, from numbers in between.

import type { DatabaseSync } from 'node:sqlite';
import { number } from '../../rows/cells.ts';
import type { Value } from '../database.ts';

export type DamagedRow = Readonly<Record<string, Value>>;

export interface Table {
  readonly name: string;
  /** The columns that both tables have. */
  readonly columns: readonly string[];
  /** The columns by which its rows are ordered; null: they have row numbers. */
  readonly key: readonly string[] | null;
}

export interface RowScan {
  /** A part of the table was out of reach. */
  readonly isDamaged: boolean;
  /** SQLite's message. */
  readonly reason: string | null;
}

/** The most failed reads of a table. */
const MAX_FAILURES = 1000;

/** Calls `take` once for each row that can be read. */
export function scanTable(db: DatabaseSync, table: Table, take: (row: DamagedRow) => void): RowScan {
  const failures: string[] = [];
  if (table.key === null) scanNumbers(db, table, { take, failures });
  else scanKeys(db, table, { take, failures });
  return { isDamaged: failures.length > 0, reason: failures[0] ?? null };
}

interface Scanning {
  readonly take: (row: DamagedRow) => void;
  readonly failures: string[];
}

/** Reads rows in the order of their numbers. Gaps out of reach are halved, the largest first. */
function scanNumbers(db: DatabaseSync, { name, columns }: Table, { take, failures }: Scanning): void {
  const list = ['rowid AS rowid_of_row', ...columns].join(', ');
  const from = (order: 'ASC' | 'DESC') =>
    `SELECT ${list} FROM ${name} NOT INDEXED WHERE rowid > ? AND rowid < ? ORDER BY rowid ${order}`;
  const read = (order: 'ASC' | 'DESC', [low, high]: Gap): Gap | null => {
    let last = order === 'ASC' ? low : high;
    try {
      for (const row of db.prepare(from(order)).iterate(low, high) as Iterable<DamagedRow>) {
        const { rowid_of_row: _, ...cells } = row;
        const rowid = number(row, 'rowid_of_row');
        // A damaged page may lead back to an earlier one, in an endless loop.
        if (order === 'ASC' ? rowid <= last : rowid >= last) throw new Error('rows are out of order');
        last = rowid;
        take(cells);
      }
      return null;
    } catch (error) {
      failures.push((error as Error).message);
      return order === 'ASC' ? [last, high] : [low, last];
    }
  };
  const gaps: Gap[] = [[-1, Number.MAX_SAFE_INTEGER]];
  while (gaps.length > 0 && failures.length < MAX_FAILURES) {
    gaps.sort((a, b) => a[1] - a[0] - (b[1] - b[0]));
    const gap = gaps.pop() as Gap;
    const above = read('ASC', gap);
    const inner = above && read('DESC', above);
    if (!inner || inner[1] - inner[0] < 2) continue;
    const middle = Math.floor((inner[0] + inner[1]) / 2);
    // The row in the middle belongs to the upper half.
    if (middle > inner[0]) gaps.push([inner[0], middle]);
    if (middle - 1 > inner[0] && middle < inner[1]) gaps.push([middle - 1, inner[1]]);
  }
}

/** The numbers between two numbers, both excluded. */
type Gap = readonly [low: number, high: number];

/** Reads rows forwards, and backwards down to those already read. */
function scanKeys(db: DatabaseSync, { name, columns, key }: Table, { take, failures }: Scanning): void {
  const order = (way: string): string => (key ?? []).map((column) => `${column} ${way}`).join(', ');
  const keyOf = (row: DamagedRow): string => JSON.stringify((key ?? []).map((column) => row[column]));
  const seen = new Set<string>();
  for (const way of ['ASC', 'DESC']) {
    try {
      const sql = `SELECT ${columns.join(', ')} FROM ${name} NOT INDEXED ORDER BY ${order(way)}`;
      for (const row of db.prepare(sql).iterate() as Iterable<DamagedRow>) {
        const known = keyOf(row);
        if (seen.has(known)) continue;
        seen.add(known);
        take(row);
      }
      if (way === 'ASC') return;
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
}

/** Returns how many rows the indexes have; null: unknown. An index may be whole when its table is not. */
export function countByIndexes(db: DatabaseSync, table: string): number | null {
  let most: number | null = null;
  for (const name of fullIndexesOf(db, table)) {
    try {
      const { n } = db.prepare(`SELECT count(*) AS n FROM ${table} INDEXED BY ${name}`).get() as { n: number };
      most = Math.max(most ?? 0, n);
    } catch {
      // The index is damaged, too.
    }
  }
  return most;
}

function fullIndexesOf(db: DatabaseSync, table: string): string[] {
  try {
    const indexes = db.prepare('SELECT name FROM pragma_index_list(?) WHERE partial = 0').all(table);
    return indexes.map(({ name }) => String(name)).filter((name) => !name.startsWith('sqlite_autoindex'));
  } catch {
    return [];
  }
}
