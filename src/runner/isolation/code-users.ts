// A user of the system for each owner, of a range in which nothing else has any: then the system keeps the code of one owner
// from the processes and files of another, whatever becomes of Node.
//
// Who has which is kept in a folder, one link per user whose target names the owner. Making a link is one step that only one
// can take, so servers of one machine share the folder, and none gives away what another has given. An owner has its user
// for good: processes of a server that was killed may still run as it. The search begins at a place that follows from the
// owner's id, so an owner mostly has the same user where the folder is lost with the machine.

import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { CodeUser } from './isolation.ts';

export interface UserRange {
  readonly first: number;
  readonly count: number;
}

/**
 * Users that no distribution and no systemd gives to anybody (above its ranges of containers), and, where a container has no
 * such numbers, those of systemd's dynamic users, of which a container has none.
 */
export const USER_RANGES: readonly UserRange[] = [
  { first: 0x70000000, count: 65_536 },
  { first: 61_184, count: 4_336 },
];

const OWN_MODE = 0o700;

/** `dir`: root's own, made when it is not there. The function throws when the folder is somebody else's, or the range full. */
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

/** It may lie where everyone may make files. */
function openFolder(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: OWN_MODE });
  const stats = lstatSync(dir);
  if (!stats.isDirectory() || stats.uid !== process.getuid?.() || (stats.mode & 0o022) !== 0) {
    throw new Error(`${dir} belongs to somebody else`);
  }
}
