// The -wal file of an open store, by a descriptor of the store's own, and how it is synced.
//
// The store's writer commits with synchronous=NORMAL: COMMIT writes its frames to the WAL, and does not wait for the disk.
// `sync` does, in libuv's thread pool, and so beside the event loop. An fdatasync that began after a COMMIT covers it and
// every commit before it: a WAL is read from its beginning up to the first frame that is torn.
//
// - The file stays the same one while the store is open: a connection that is open keeps every other one from deleting the
//   WAL, and a checkpoint begins it again or cuts its length, but puts no other file in its place. Where another process
//   does so all the same, what is committed goes into a file without a name. `sync` finds that out, and fails.
// - SQLite goes on syncing by itself: the WAL before a checkpoint copies from it, the database after that, and the WAL's
//   header when it begins again.
// - SQLite locks the database and the -shm file by the byte, and not the WAL: closing a descriptor of a locked file would
//   drop the locks of the whole process.
// - Node's `fdatasync` is F_FULLFSYNC on macOS (SQLite asks for less by itself) and FlushFileBuffers on Windows.

import { type BigIntStats, closeSync, fdatasync, fstatSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** Rejects when the file may not be on disk. */
export type SyncFile = (descriptor: number) => Promise<void>;

export class WalFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #opened: BigIntStats;
  readonly #syncFile: SyncFile;
  #isClosed = false;

  /** `database`: of a connection that is open, so that its WAL is there. */
  constructor(database: string, syncFile: SyncFile = promisify(fdatasync)) {
    this.path = `${database}-wal`;
    this.#syncFile = syncFile;
    // Windows syncs only what is opened to be written.
    this.#descriptor = openSync(this.path, 'r+');
    this.#opened = fstatSync(this.#descriptor, { bigint: true });
    syncFolder(dirname(database));
  }

  /** Resolves when everything that was written to the file before is on disk. */
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

/** The names of the store's files are to be on disk as well. Windows has no such sync. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
