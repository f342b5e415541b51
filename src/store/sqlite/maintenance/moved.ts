// The mark on a store that was moved into a database: it keeps a second server from starting on the file.

import { existsSync, statSync } from 'node:fs';
import { StoreUnavailable } from '../../contract/unavailable.ts';
import { Connection, openDatabase } from '../database.ts';
import { readMeta, writeMeta } from '../meta.ts';

/** Throws `StoreUnavailable` when the store was moved. The caller holds the lock. */
export function refuseMoved(path: string): void {
  const connection = new Connection(path, true);
  try {
    const to = movedTo(connection);
    if (to === null) return;
    throw new StoreUnavailable(
      `the store ${path} was moved to ${to}: set ERRAND_DATABASE_URL to work there. To go back to this file, as it was before the move, call errand store move --undo`,
    );
  } finally {
    connection.close();
  }
}

/** Returns whether there is a store at `path` that was not moved, or that cannot be read. Takes no lock, and changes nothing. */
export function isUnmoved(path: string): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return false;
  let connection: Connection | undefined;
  try {
    connection = new Connection(path, true);
    return movedTo(connection) === null;
  } catch {
    return true;
  } finally {
    connection?.close();
  }
}

export function movedTo(connection: Connection): string | null {
  return readMeta(connection, 'moved_to');
}

export function markMoved(writer: Connection, to: string): void {
  writeMeta(writer, 'moved_to', to);
}

/** Deletes the mark. Returns where the store was moved to; null: it was not moved. */
export function unmarkMoved(path: string): string | null {
  if (!existsSync(path)) throw new StoreUnavailable(`there is no store at ${path}`);
  const database = openDatabase(path);
  try {
    const to = movedTo(database.writer);
    database.writer.run("DELETE FROM meta WHERE name = 'moved_to'");
    return to;
  } finally {
    database.close();
  }
}
