// Two connections to one file: one for all writes, one for all reads (WAL: readers never wait for the writer). Another file is the
// lock: this process holds an exclusive SQLite transaction on it, which the operating system drops when the process ends in any
// way. With a pid file, one would have to guess whether its process still lives.

import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { StoreDamaged, StoreUnavailable } from '../contract/unavailable.ts';
import { placeOf, refuseHardLinks, refuseUnwritable } from './file-access.ts';
import { migrate } from './maintenance/schema.ts';
import { CORRUPT, primaryCode } from './result-codes.ts';
import { hasLostEnd } from './salvage/wal.ts';

// Pages of the WAL (4 MB) before SQLite copies them into the file, on the writer's thread: for commands. A server has
// wal/checkpointer.ts, and changes `synchronous` once it syncs itself.
const CHECKPOINT_PAGES = 1000;
const BUSY_TIMEOUT_MS = 5000;

export type Value = string | number | null | Uint8Array;
export type Row = Record<string, Value>;

/** One connection with its statements, each prepared once. */
export class Connection {
  readonly db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** A statement came upon a page that is damaged. */
  isDamaged = false;

  constructor(path: string, readOnly: boolean) {
    this.db = new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS });
    // SQLite's own knows the letters of ASCII alone.
    this.db.function('lower', { deterministic: true }, (text) =>
      typeof text === 'string' ? text.toLowerCase() : text,
    );
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const made = this.db.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }

  get prepared(): string[] {
    return [...this.#statements.keys()];
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    try {
      return this.#prepared(sql).get(...values) as Row | undefined;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  all(sql: string, ...values: Value[]): Row[] {
    try {
      return this.#prepared(sql).all(...values) as Row[];
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Returns how many rows the statement changed. */
  run(sql: string, ...values: Value[]): number {
    try {
      return Number(this.#prepared(sql).run(...values).changes);
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #failed(error: unknown): unknown {
    const failed = storageError(error);
    this.isDamaged ||= failed instanceof StoreDamaged;
    return failed;
  }

  exec(sql: string): void {
    this.db.exec(sql);
  }

  close(): void {
    this.#statements.clear();
    if (this.db.isOpen) this.db.close();
  }
}

export interface Database {
  readonly writer: Connection;
  readonly reader: Connection;
  close(): void;
  /** Closes without changing the files. A normal `close` copies the WAL into the file, and deletes it. */
  abandon(): void;
}

/** Has the code of SQLite's own error for a damaged file. */
class WalCut extends Error {
  readonly errcode = CORRUPT;

  constructor(path: string) {
    super(`the end of ${path}-wal is lost`);
  }
}

/**
 * Opens, locks and migrates a file, or what a link stands for. `look`: called before anything is written. Throws
 * `StoreUnavailable` when another process has locked it, its schema is newer than this program, this user may not write its
 * files, or the link leads to nothing.
 */
export function openDatabase(file: string, look: (writer: Connection) => void = () => undefined): Database {
  const path = placeOf(file);
  refuseUnwritable(path);
  refuseHardLinks(path);
  const lock = takeLock(path);
  let writer: Connection | undefined;
  try {
    if (hasLostEnd(path)) throw new WalCut(path);
    const isNew = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
    writer = new Connection(path, false);
    // SQLite takes it before the first page is written, and not later: see maintenance/space.ts.
    if (isNew) writer.exec('PRAGMA auto_vacuum = INCREMENTAL');
    writer.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};`);
    look(writer);
    migrate(writer.db, path);
    const reader = new Connection(path, true);
    reader.exec('PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY;');
    const opened = writer;
    const close = (): void => {
      reader.close();
      opened.close();
      if (lock.isOpen) lock.close();
    };
    const abandon = (): void => {
      if (!lock.isOpen) return;
      reader.close();
      leave(opened, path);
      lock.close();
    };
    return { writer, reader, close, abandon };
  } catch (error) {
    if (writer) leave(writer, path);
    lock.close();
    throw openingError(error, path);
  }
}

/** Closes the writer while a read-only connection is open: then SQLite copies nothing from the WAL. */
function leave(writer: Connection, path: string): void {
  const guard = new Connection(path, true);
  try {
    guard.exec('SELECT count(*) FROM sqlite_schema');
  } catch {
    // It has opened the WAL anyway.
  }
  writer.close();
  guard.close();
}

/** Keeps servers from using the store at `path` during `work`. If no lock can be written, no server could start either. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  let lock: DatabaseSync | undefined;
  try {
    lock = takeLock(path);
  } catch (error) {
    if ((error as { cause?: unknown }).cause === undefined) throw error;
  }
  try {
    return await work();
  } finally {
    lock?.close();
  }
}

function takeLock(path: string): DatabaseSync {
  const file = `${placeOf(path)}-lock`;
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (primaryCode(error) !== BUSY) throw openingError(error, file);
    throw new StoreUnavailable(
      `another Errand process is using ${path}; two processes never write one store. Stop the other one first, or give this one its own ERRAND_DATA_DIR`,
    );
  }
}

// SQLite's primary result codes for errors of storage, not of statements.
const STORAGE_CODES = new Set([5, 6, 7, 8, 10, 11, 13, 14, 22, 23, 26]);

const BUSY = 5;

/** Returns the error for a file that is no store, or cannot be read or written. */
export function openingError(error: unknown, path: string): unknown {
  // A read has said what happened, but not where.
  const failed = error instanceof StoreUnavailable && error.cause !== undefined ? error.cause : error;
  const code = primaryCode(failed);
  if (code === null || !STORAGE_CODES.has(code)) return error;
  const why = isDiskFull(path) ? 'its disk is full' : (failed as Error).message;
  return new StoreUnavailable(`${path} cannot be opened: ${why}`, { cause: failed });
}

/** What SQLite writes beside a store to open it. When that does not fit, it speaks of an I/O error, as of a broken disk. */
const OPENING_BYTES = 64 * 1024;

function isDiskFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < OPENING_BYTES;
  } catch {
    return false;
  }
}

/** Returns the error for the store's callers. */
export function storageError(error: unknown): unknown {
  const code = primaryCode(error);
  const closed = (error as { code?: unknown }).code === 'ERR_INVALID_STATE';
  if (!closed && (code === null || !STORAGE_CODES.has(code))) return error;
  const Kind = code === CORRUPT ? StoreDamaged : StoreUnavailable;
  return new Kind(`storage failed: ${(error as Error).message}`, { cause: error });
}
