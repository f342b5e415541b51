// What `errand store move` writes of itself into the database that it fills: from which store, and how far it has come.
// It is written with the rows it tells of, so that a move that was killed goes on where it was.

import type { Cell } from '../../contract/export.ts';
import { StoreUnavailable } from '../../contract/store.ts';
import { text } from '../../rows/cells.ts';
import type { Tx } from '../connection/transaction-connection.ts';
import type { Row } from '../connection/values.ts';

export interface MoveMark {
  /** The tag of the store that is moved here. */
  readonly store: string;
  /** ExportedStore.version; null: what is here cannot be trusted, and the move begins again. */
  readonly version: string | null;
  readonly state: 'under_way' | 'moved';
  /** Which call of the command this is, from 1: only the last one may write. */
  readonly call: number;
}

export interface Progress {
  readonly rows: number;
  /** Key of the last row; null: none yet. */
  readonly after: readonly Cell[] | null;
  readonly isWhole: boolean;
}

const BEGINNING: Progress = { rows: 0, after: null, isWhole: false };

/** A row when a move is under way. */
export const MOVE_UNDER_WAY = `SELECT value FROM meta WHERE name = 'move' AND value LIKE '%"under_way"%'`;

/**
 * Throws `StoreUnavailable` while a move into this database has not come to its end. To be called once this process is
 * registered as a node: a move that begins looks for nodes after it has made its mark, so one of the two sees the other.
 */
export async function refuseUnfinishedMove(pool: { get(sql: string): Promise<Row | undefined> }): Promise<void> {
  if ((await pool.get(MOVE_UNDER_WAY)) === undefined) return;
  throw new StoreUnavailable(
    'the move of a store into this database has not come to its end: call errand store move again, where it was begun. Or make a new database',
  );
}

/** Waits for a transaction that a call which was killed has left behind. */
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
