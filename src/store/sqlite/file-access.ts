// Which of a store's files this user may not use, and why: SQLite says only that it cannot open or write "a database", and a
// file left behind with the wrong owner or mode, such as errand.db-shm, would stay unnamed.

import { constants, existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { whyClosed } from '../../closed-path.ts';
import { StoreUnavailable } from '../contract/unavailable.ts';

const BESIDE = ['', '-wal', '-shm', '-lock'];

/** Throws `StoreUnavailable` that names the first file, or the folder, that this user may not read and write. */
export function refuseUnwritable(path: string): void {
  for (const file of [dirname(path), ...BESIDE.map((end) => `${path}${end}`)]) {
    const why = whyClosed(file, constants.R_OK | constants.W_OK);
    if (why !== null) throw new StoreUnavailable(`${file} cannot be read and written: ${why}`);
  }
}

/** Returns why this user cannot read the store at `path`, for people; null: SQLite can open its files. */
export function whyUnreadable(path: string): string | null {
  const folder = dirname(path);
  for (const file of [folder, ...BESIDE.map((end) => `${path}${end}`)]) {
    const why = whyClosed(file, constants.R_OK);
    if (why !== null) return `${file} cannot be read: ${why}`;
  }
  const why = whyClosed(folder, constants.W_OK);
  return why && `SQLite writes files beside a store also to read it, and ${folder} cannot be written: ${why}`;
}

/**
 * Throws `StoreUnavailable` for a file with hard links: the WAL and the lock go by name, so that each name would have its own, with
 * commits that the others do not see, and two servers could write one file.
 */
export function refuseHardLinks(path: string): void {
  const names = statSync(path, { throwIfNoEntry: false })?.nlink ?? 1;
  if (names <= 1) return;
  throw new StoreUnavailable(
    `${path} has ${names} names (hard links), and a store has one: keep the one that has ${basename(path)}-wal beside it, and remove the others. To have a copy, call errand store backup`,
  );
}

/**
 * Returns where a store is that a symbolic link may stand for: there SQLite has its WAL, and there is the lock. Throws
 * `StoreUnavailable` for a link to nothing: the disk with the store may not be mounted, and a new store would hide that.
 */
export function placeOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  throw new StoreUnavailable(
    `${path} is a symbolic link to ${readlinkSync(path)}, which is not there: mount its disk, or remove the link to begin with an empty store`,
  );
}
