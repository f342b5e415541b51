// The mark and progress of `errand store move` in the database that it fills. Progress is written together with the rows, so a
// move that was killed goes on where it was.

import type { ExportedCell } from '../../contract/export.ts';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { text } from '../../rows/cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Row } from '../connection/values.ts';

export interface MoveMark {
  /** The tag of the moved store. */
  readonly store: string;
  /** ExportedStore.version; null: the copied rows are wrong, and the move begins again. */
  readonly version: string | null;
  readonly state: 'under_way' | 'moved';
  /** The call of the command, from 1: only the last one may write. */
  readonly call: number;
}

export interface Progress {
  readonly rows: number;
  /** Key of the last row; null: none yet. */
  readonly after: readonly ExportedCell[] | null;
  readonly isWhole: boolean;
}

const BEGINNING: Progress = { rows: 0, after: null, isWhole: false };

/** Selects a row while a move is under way. */
export const MOVE_UNDER_WAY = `SELECT value FROM meta WHERE name = 'move' AND value LIKE '%"under_way"%'`;

/**
 * Throws `StoreUnavailable` while a move into this database is not finished. Call it after registering as a node: a move looks for
 * nodes after it has written its mark, so one of the two sees the other.
 */
export async function refuseUnfinishedMove(pool: { get(sql: string): Promise<Row | undefined> }): Promise<void> {
  if ((await pool.get(MOVE_UNDER_WAY)) === undefined) return;
  throw new StoreUnavailable(
    'the move of a store into this database is not finished: call errand store move again, where it was begun, or make a new database',
  );
}

/** Reads and locks the mark; waits for the last transaction of a call that was killed. */
export async function readMark(tx: Tx): Promise<MoveMark | null> {
  const [row] = await tx.query("SELECT value FROM meta WHERE name = 'move' FOR UPDATE");
  return row === undefined ? null : (JSON.parse(text(row, 'value')) as MoveMark);
}

export function writeMark(tx: Tx, mark: MoveMark): void {
  writeMeta(tx, 'move', JSON.stringify(mark));
}

export async function readProgress(tx: Tx, table: string): Promise<Progress> {
  const [row] = await tx.query('SELECT value FROM meta WHERE name = $1', `move ${table}`);
  return row === undefined ? BEGINNING : (JSON.parse(text(row, 'value')) as Progress);
}

export function writeProgress(tx: Tx, table: string, progress: Progress): void {
  writeMeta(tx, `move ${table}`, JSON.stringify(progress));
}

export function forgetProgress(tx: Tx): void {
  void tx.query("DELETE FROM meta WHERE name LIKE 'move %'");
}

export function writeMeta(tx: Tx, name: string, value: string): void {
  void tx.query(
    'INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    name,
    value,
  );
}
