// Reads the cells of a row by the types of their columns. A cell of another type is a bug or a damaged file: the read throws
// with the column's name.

import type { Row } from './rows.ts';

/** Returns the row of a statement that always has one. */
export function present(row: Row | undefined): Row {
  if (row === undefined) throw new Error('a statement that always has a row had none');
  return row;
}

/** Returns a text. `T`: the only texts that the column can have. */
export function text<T extends string = string>(row: Row, column: string): T {
  const cell = row[column];
  if (typeof cell !== 'string') throw wrong(column, 'a text', cell);
  return cell as T;
}

export function textOrNull<T extends string = string>(row: Row, column: string): T | null {
  return row[column] === null ? null : text<T>(row, column);
}

export function number(row: Row, column: string): number {
  const cell = row[column];
  if (typeof cell !== 'number') throw wrong(column, 'a number', cell);
  return cell;
}

export function numberOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : number(row, column);
}

/** Reads a cell as `numberOrNull` does; null also for a column that the statement does not read. */
export function numberIfRead(row: Row, column: string): number | null {
  return row[column] === undefined ? null : numberOrNull(row, column);
}

/** Returns a boolean, which SQLite keeps as 0 or 1. */
export function flag(row: Row, column: string): boolean {
  const cell = row[column];
  if (cell === true || cell === 1) return true;
  if (cell === false || cell === 0) return false;
  throw wrong(column, 'a boolean', cell);
}

export function bytes(row: Row, column: string): Uint8Array {
  const cell = row[column];
  if (!(cell instanceof Uint8Array)) throw wrong(column, 'bytes', cell);
  return cell;
}

/** Returns the value of a column of JSON text. `T`: the type that its writers put there. */
export function json<T>(row: Row, column: string): T {
  return JSON.parse(text(row, column));
}

export function jsonOrNull<T>(row: Row, column: string): T | null {
  return row[column] === null ? null : json<T>(row, column);
}

function wrong(column: string, wanted: string, cell: unknown): Error {
  return new Error(`column ${column} is not ${wanted}: ${cell === null ? 'null' : typeof cell}`);
}
