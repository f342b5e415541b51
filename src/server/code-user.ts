// Whether a server that is root can run code as another user here. In a container without the right to change users, or one
// that has no other users, it cannot; and in a folder for temporary files that is closed to others, none could go.

import { readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { USER_RANGES, type UserRange } from '../runner/isolation/code-users.ts';

/** CAP_CHOWN, CAP_SETGID, CAP_SETUID: bits of the capabilities that a process has. */
const NEEDED = [
  [0n, 'CAP_CHOWN'],
  [6n, 'CAP_SETGID'],
  [7n, 'CAP_SETUID'],
] as const;
const OTHERS_GO_THROUGH = 0o001;

/** Why not, in words; null: it can. */
export function obstacleTo({ uid, gid }: { readonly uid: number; readonly gid: number }): string | null {
  const held = /^CapEff:\s*([0-9a-f]+)$/m.exec(read('/proc/self/status'))?.[1];
  const missing = held === undefined ? [] : NEEDED.filter(([bit]) => ((BigInt(`0x${held}`) >> bit) & 1n) === 0n);
  if (missing.length > 0) return `it may not change users: ${missing.map(([, name]) => name).join(', ')} is not there`;
  if (!isMapped(read('/proc/self/uid_map'), uid)) return `there is no user ${uid} in this container`;
  if (!isMapped(read('/proc/self/gid_map'), gid)) return `there is no group ${gid} in this container`;
  if (!isPassable(passableTmp())) return `other users may not go through ${tmpdir()}: TMPDIR may name another place`;
  return null;
}

/** The first range that is there; null: the numbers of this container reach none. */
export function ownersRange(): UserRange | null {
  const [users, groups] = [read('/proc/self/uid_map'), read('/proc/self/gid_map')];
  const isThere = (id: number): boolean => isMapped(users, id) && isMapped(groups, id);
  return USER_RANGES.find(({ first, count }) => isThere(first) && isThere(first + count - 1)) ?? null;
}

/** The folder for temporary files, or the system's own where other users may not go through that one. */
export function passableTmp(): string {
  return [tmpdir(), '/tmp', '/var/tmp'].find(isPassable) ?? tmpdir();
}

/** Lines of `first there, first outside, how many`. Where there is no such file, all users are there. */
function isMapped(map: string, id: number): boolean {
  const lines = map.trim().split('\n').filter(Boolean);
  return (
    lines.length === 0 ||
    lines.some((line) => {
      const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return id >= first && id < first + count;
    })
  );
}

function isPassable(path: string): boolean {
  try {
    for (let dir = path; ; dir = dirname(dir)) {
      if ((statSync(dir).mode & OTHERS_GO_THROUGH) === 0) return false;
      if (dir === dirname(dir)) return true;
    }
  } catch {
    return false;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
