// Reads a WAL file without SQLite, which only reports that a store is malformed, and changes the file by opening it.
// https://sqlite.org/fileformat2.html#the_write_ahead_log
//
// A WAL is used up to its last commit before the first frame with a wrong checksum: a crash leaves such a file, undamaged. A crash
// never leaves less than was copied into the database, since the WAL is flushed first: a shorter WAL mixes pages of different
// moments, which is damage.

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { PAGE_BYTES } from './header.ts';

const HEADER_BYTES = 32;
const FRAME_BYTES = 24;
const MAGIC = 0x377f0682;
const MAX_PAGE_BYTES = 65_536;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface WalFacts {
  readonly bytes: number;
  /** Whether the header is valid, with its checksum. */
  readonly isHeaderWhole: boolean;
  /** Frames that SQLite uses, and their commits. */
  readonly frames: number;
  readonly commits: number;
  /** Of the database, at most, behind each of these commits; null: there is none. */
  readonly pages: number | null;
  /** Frames of the same WAL after the first broken one, which are not used. */
  readonly framesBehind: number;
}

const NOTHING: WalFacts = { bytes: 0, isHeaderWhole: false, frames: 0, commits: 0, pages: null, framesBehind: 0 };

/** The most that a start reads: about 15 ms for each 4 MB, at which a WAL usually begins again. */
const LOOKED_AT_BYTES = 64 * 1024 * 1024;

/**
 * Returns whether the WAL has lost its end after that was copied into the file at `path`: the file cannot have more pages than
 * the largest commit says, since no WAL begins with a commit that makes the database smaller (maintenance/space.ts). SQLite
 * notices it only by chance, and else takes older pages from the WAL for what the file has in a newer state.
 */
export function hasLostEnd(path: string): boolean {
  const [file, wal] = [statSync(path, { throwIfNoEntry: false }), statSync(`${path}-wal`, { throwIfNoEntry: false })];
  if (!file || !wal || wal.size === 0 || wal.size > LOOKED_AT_BYTES) return false;
  const { pages } = readWal(`${path}-wal`);
  return pages !== null && Math.floor(file.size / PAGE_BYTES) > pages;
}

/** Reads a WAL file. Throws when it cannot be read. */
export function readWal(path: string): WalFacts {
  const descriptor = openSync(path, 'r');
  try {
    return read((length, position) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position));
    });
  } finally {
    closeSync(descriptor);
  }
}

type Read = (length: number, position: number) => Buffer;

function read(at: Read): WalFacts {
  const header = at(HEADER_BYTES, 0);
  if (header.length < HEADER_BYTES) return { ...NOTHING, bytes: header.length };
  const isBigEndian = (header.readUInt32BE(0) & 1) === 1;
  const pageBytes = header.readUInt32BE(8);
  let sum: Sum = add([0, 0], header.subarray(0, 24), isBigEndian);
  const isHeaderWhole =
    header.readUInt32BE(0) >>> 1 === MAGIC >>> 1 &&
    pageBytes >= 512 &&
    pageBytes <= MAX_PAGE_BYTES &&
    isSum(sum, header, 24);
  const facts: Writable<WalFacts> = { ...NOTHING, bytes: header.length, isHeaderWhole };
  if (!isHeaderWhole) return facts;
  const salt = header.subarray(16, 24);
  let isBroken = false;
  let sinceCommit = 0;
  for (let position = HEADER_BYTES; ; position += FRAME_BYTES + pageBytes) {
    const frame = at(FRAME_BYTES + pageBytes, position);
    facts.bytes = position + frame.length;
    if (frame.length < FRAME_BYTES + pageBytes) return facts;
    const isOurs = frame.subarray(8, 16).equals(salt);
    if (!isBroken) {
      sum = add(add(sum, frame.subarray(0, 8), isBigEndian), frame.subarray(FRAME_BYTES), isBigEndian);
      isBroken = !isOurs || !isSum(sum, frame, 16);
    }
    if (isBroken) {
      facts.framesBehind += isOurs ? 1 : 0;
      continue;
    }
    sinceCommit++;
    const pages = frame.readUInt32BE(4);
    if (pages === 0) continue;
    facts.pages = Math.max(facts.pages ?? 0, pages);
    facts.commits++;
    facts.frames += sinceCommit;
    sinceCommit = 0;
  }
}

type Sum = readonly [number, number];

function isSum([a, b]: Sum, bytes: Buffer, at: number): boolean {
  return bytes.readUInt32BE(at) === a && bytes.readUInt32BE(at + 4) === b;
}

function add([first, second]: Sum, bytes: Buffer, isBigEndian: boolean): Sum {
  let [a, b] = [first, second];
  for (let i = 0; i < bytes.length; i += 8) {
    a = (a + (isBigEndian ? bytes.readUInt32BE(i) : bytes.readUInt32LE(i)) + b) >>> 0;
    b = (b + (isBigEndian ? bytes.readUInt32BE(i + 4) : bytes.readUInt32LE(i + 4)) + a) >>> 0;
  }
  return [a, b];
}
