// Gives each owner a user of the system, from a range that nothing else uses. So the system keeps one owner's code from
// another's processes and files, even when code breaks out of Node's permission model.
//
// A folder records the users: one link per user, whose target names the owner. Creating a link is atomic, so servers of
// one machine share the folder, and no user is given twice. An owner keeps its user for good: processes of a killed
// server may still run as that user. The search begins at a position derived from the owner's id, so an owner mostly
// gets the same user again when the folder is lost with the machine.

import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { CodeUser } from './isolation.ts';

export interface UserRange {
  readonly first: number;
  readonly count: number;
}

/**
 * User ids that no distribution and no systemd assigns (above the ranges of containers), and, where a container lacks
 * such ids, those of systemd's dynamic users, which a container does not have.
 */
export const USER_RANGES: readonly UserRange[] = [
  { first: 0x70000000, count: 65_536 },
  { first: 61_184, count: 4_336 },
];

const OWN_MODE = 0o700;

/**
 * Returns the function that finds an owner's user. `dir` is root's own, and is created when missing. The function
 * throws when the folder belongs to another user, or the range is full.
 */
export function createCodeUsers(dir: string, range: UserRange): (ownerId: string) => CodeUser {
  const known = new Map<string, CodeUser>();
  return (ownerId) => {
    let user = known.get(ownerId);
    if (user === undefined) {
      const id = idOf(ownerId, dir, range);
      user = { uid: id, gid: id };
      known.set(ownerId, user);
    }
    return user;
  };
}

function idOf(ownerId: string, dir: string, { first, count }: UserRange): number {
  openFolder(dir);
  const start = createHash('sha256').update(ownerId).digest().readUInt32BE(0) % count;
  for (let tried = 0; tried < count; tried++) {
    const id = first + ((start + tried) % count);
    if (isTakenFor(ownerId, join(dir, String(id)))) return id;
  }
  throw new Error(
    `all ${count} users from ${first} on belong to owners: ${dir} has a link for each, and those of owners that are gone may be removed`,
  );
}

function isTakenFor(ownerId: string, link: string): boolean {
  try {
    symlinkSync(ownerId, link);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readlinkSync(link) === ownerId;
  }
}

/** Creates the folder and checks its owner: it may lie where every user may create files. */
function openFolder(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: OWN_MODE });
  const stats = lstatSync(dir);
  if (!stats.isDirectory() || stats.uid !== process.getuid?.() || (stats.mode & 0o022) !== 0) {
    throw new Error(`${dir} belongs to another user`);
  }
}
