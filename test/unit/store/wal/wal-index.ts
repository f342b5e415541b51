// What SQLite keeps about a WAL beside it: https://sqlite.org/walformat.html#the_wal_index_file_format

import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';

const BYTES = 136;

export interface WalIndex {
  /** Tells one beginning of the WAL from the next. */
  readonly salt: string;
  /** Frames that are committed. */
  readonly frames: number;
  /** Frames that a checkpoint has copied into the database, or copies: SQLite has synced these before. */
  readonly copied: number;
}

/** Reads it of the open store at `path`. */
export function indexOf(path: string): WalIndex {
  const bytes = Buffer.alloc(BYTES);
  const descriptor = openSync(`${path}-shm`, 'r');
  try {
    readSync(descriptor, bytes, 0, BYTES, 0);
  } finally {
    closeSync(descriptor);
  }
  const number = (at: number): number => (endianness() === 'LE' ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  return { salt: bytes.toString('hex', 32, 40), frames: number(16), copied: number(128) };
}
