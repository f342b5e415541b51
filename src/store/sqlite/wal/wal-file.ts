// The -wal file of an open store, with a descriptor of its own, and its sync.
//
// The writer commits with synchronous=NORMAL: COMMIT writes frames to the WAL without waiting for the disk. `sync` waits, in
// libuv's thread pool, beside the event loop. An fdatasync that began after a COMMIT covers it and every earlier one: a WAL is
// read from its beginning up to the first torn frame.
//
// - The file stays the same while the store is open: an open connection keeps others from deleting the WAL, and a checkpoint
//   begins it again or truncates it, but never replaces it. If another process replaces the file, commits go into a file without
//   a name; `sync` notices that, and fails.
// - SQLite still syncs the WAL before a checkpoint copies from it, the database after that, and the WAL's header when it begins
//   again.
// - SQLite locks bytes of the database and of the -shm file, not of the WAL: closing a descriptor of a locked file would drop the
//   locks of the whole process.
// - Node's `fdatasync` is F_FULLFSYNC on macOS (SQLite does less by default) and FlushFileBuffers on Windows.

import { type BigIntStats, closeSync, fdatasync, fstatSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** Syncs a file; rejects when it may not be on disk. */
export type SyncFile = (descriptor: number) => Promise<void>;

export class WalFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #opened: BigIntStats;
  readonly #syncFile: SyncFile;
  #isClosed = false;

  /** `database`: the file of an open connection, so that its WAL exists. */
  constructor(database: string, syncFile: SyncFile = promisify(fdatasync)) {
    this.path = `${database}-wal`;
    this.#syncFile = syncFile;
    // Windows syncs only files that are open for writing.
    this.#descriptor = openSync(this.path, 'r+');
    this.#opened = fstatSync(this.#descriptor, { bigint: true });
    syncFolder(dirname(database));
  }

  /** Resolves when all earlier writes to the file are on disk. */
  sync(): Promise<void> {
    const now = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    if (now?.ino !== this.#opened.ino || now.dev !== this.#opened.dev) {
      const what = now ? 'another file was put in the place of' : 'no file is left of';
      return Promise.reject(new Error(`${what} ${this.path} while the store was open`));
    }
    return this.#syncFile(this.#descriptor);
  }

  close(): void {
    if (!this.#isClosed) closeSync(this.#descriptor);
    this.#isClosed = true;
  }
}

/** Syncs the names of the store's files. Windows has no such sync. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
