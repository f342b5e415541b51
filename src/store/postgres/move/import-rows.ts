// Groups rows, converts them, and compares what arrived.

import { createHash, type Hash } from 'node:crypto';
import type { ExportedCell, ExportedRow } from '../../contract/export.ts';
import type { Imported } from './import-tables.ts';

const ROWS_AT_ONCE = 1000;
/** A group is full beyond this; it is in memory at once, several times over as text. */
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/** A table of this database, and the rows that fill it. */
export interface TargetTable {
  readonly imported: Imported;
  /** In the table's order. */
  readonly columns: readonly Column[];
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
}

/** Yields rows in groups that fit into memory. */
export function* grouped(rows: Iterable<ExportedRow>): Generator<ExportedRow[]> {
  let group: ExportedRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    group.push(row);
    for (const cell of Object.values(row)) bytes += sizeOf(cell);
    if (group.length < ROWS_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}

function sizeOf(cell: ExportedCell): number {
  return typeof cell === 'string' ? cell.length : cell instanceof Uint8Array ? cell.byteLength : 8;
}

/** Returns a row of the moved store as a row of this table. */
export function converted({ imported, columns }: TargetTable, row: ExportedRow): ExportedRow {
  const cells: Record<string, ExportedCell> = {};
  for (const { name, type } of columns) {
    const made = imported.columns?.[name];
    const cell = made ? made(row) : row[name];
    if (cell === undefined) throw new Error(`no column of the moved store fills ${imported.table}.${name}`);
    cells[name] = type === 'boolean' && typeof cell === 'number' ? cell === 1 : cell;
  }
  return cells;
}

/** SHA-256 over rows of either database: cells as JSON, byte strings as they are. */
export class RowHash {
  readonly #columns: readonly string[];
  readonly #hash: Hash = createHash('sha256');
  rows = 0;

  constructor({ columns }: TargetTable) {
    this.#columns = columns.map(({ name }) => name);
  }

  add(rows: readonly ExportedRow[]): void {
    for (const row of rows) {
      const cells = this.#columns.map((name) => row[name] ?? null);
      const spelled = cells.map((cell) => (cell instanceof Uint8Array ? cell.byteLength : cell));
      this.#hash.update(`${JSON.stringify(spelled)}\n`);
      for (const cell of cells) if (cell instanceof Uint8Array) this.#hash.update(cell);
    }
    this.rows += rows.length;
  }

  /** Returns the hash. Call once. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}
