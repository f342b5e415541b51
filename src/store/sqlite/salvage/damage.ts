// Describes the damage of a store's files in a few lines, for the operator. Nothing is changed: SQLite checks over a read-only
// connection, and only files that take seconds.

import { Connection } from '../database.ts';
import { placeOf } from '../file-access.ts';
import { CORRUPT, primaryCode } from '../result-codes.ts';
import { PAGE_BYTES, readHeader } from './header.ts';
import { sizeOf } from './reading.ts';
import { readWal } from './wal.ts';

const NOT_A_DATABASE = 26;
const CHECKED_BYTES = 1024 * 1024 * 1024;
const MAX_FINDINGS = 3;
const MAX_CHARS = 200;

/** Returns whether an error means that the file is damaged, not that it is out of reach. */
export function isDamage(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    const code = primaryCode(one);
    if (code === CORRUPT || code === NOT_A_DATABASE) return true;
  }
  return false;
}

/** Returns one line for each finding about the files. */
export function describeFiles(file: string): string[] {
  const path = placeOf(file);
  return [...describeFile(path), ...describeWal(path)];
}

function describeFile(path: string): string[] {
  const { bytes, isHeaderWhole, pages } = readHeader(path);
  if (bytes === 0) return [`${path} is empty`];
  const there = `${path} has ${Math.floor(bytes / PAGE_BYTES)} pages of ${PAGE_BYTES} bytes`;
  if (!isHeaderWhole) return [`${there}, and its header was overwritten, or it never was a store`];
  const more = bytes % PAGE_BYTES === 0 ? '' : ` and ${bytes % PAGE_BYTES} bytes more`;
  const short = pages !== null && pages * PAGE_BYTES > bytes ? `; its header tells of ${pages}` : '';
  return [`${there}${more}${short}`];
}

function describeWal(store: string): string[] {
  const path = `${store}-wal`;
  const bytes = sizeOf(path);
  if (bytes === 0) return [];
  const { isHeaderWhole, frames, commits, framesBehind, pages } = readWal(path);
  if (!isHeaderWhole) return [`${path} has ${bytes} bytes, and none can be used: its header is damaged`];
  const behind = framesBehind === 0 ? '' : `; behind a damaged one there are ${framesBehind} that are lost`;
  const isShort = pages !== null && Math.floor(sizeOf(store) / PAGE_BYTES) > pages;
  const short = isShort ? `; its end is lost: by its commits the store has no more than ${pages} pages` : '';
  return [`${path} has ${frames} pages in ${commits} commits${behind}${short}`];
}

/** Returns what SQLite reports of the file, in a few lines. */
function askSqlite(path: string): string[] {
  // SQLite takes an empty file for a new database, and deletes the WAL beside it.
  if (sizeOf(path) === 0) return [];
  if (sizeOf(path) > CHECKED_BYTES) return [`not checked, since it is large: call errand store check`];
  let connection: Connection | undefined;
  try {
    connection = new Connection(path, true);
    const lines = connection.all(`PRAGMA quick_check(${MAX_FINDINGS})`).map((row) => String(row.quick_check));
    return lines.filter((line) => line !== 'ok').map((line) => line.replaceAll('\n', ' ').slice(0, MAX_CHARS));
  } catch (error) {
    return [(error as Error).message];
  } finally {
    connection?.close();
  }
}

/** Returns why no server starts on the store, and what the operator can do. */
export function damagedMessage(path: string, dataDir: string): string {
  const facts = [...describeFiles(path), ...askSqlite(path).map((line) => `SQLite says: ${line}`)];
  return [
    `the store ${path} is damaged, and no server starts on it. Nothing was changed.`,
    ...facts.map((fact) => `  ${fact}`),
    'What you can do, after you have made a copy of the whole folder:',
    `  errand store salvage '${dataDir}' --to '${dataDir}.salvaged'   what can be read goes into a new store, and the rest is counted`,
    '  or restore the newest backup: docs/operations.md#a-damaged-store',
  ].join('\n');
}
