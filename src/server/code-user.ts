// Whether a server that is root can run code as another user on this machine: not in a container that may not change
// users or has no other users, and not when the folder for temporary files is closed to other users.

import { readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { USER_RANGES, type UserRange } from '../runner/isolation/code-users.ts';

/** CAP_CHOWN, CAP_SETGID, CAP_SETUID: bits of a process's capabilities. */
const NEEDED = [
  [0n, 'CAP_CHOWN'],
  [6n, 'CAP_SETGID'],
  [7n, 'CAP_SETUID'],
] as const;
const OTHERS_GO_THROUGH = 0o001;

/** Returns the obstacle in words; null: none. */
export function obstacleTo({ uid, gid }: { readonly uid: number; readonly gid: number }): string | null {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(read('/proc/self/status'))?.[1];
  const missing =
    effective === undefined ? [] : NEEDED.filter(([bit]) => ((BigInt(`0x${effective}`) >> bit) & 1n) === 0n);
  if (missing.length > 0) return `it may not change users: ${missing.map(([, name]) => name).join(', ')} is not there`;
  if (!isMapped(read('/proc/self/uid_map'), uid)) return `there is no user ${uid} in this container`;
  if (!isMapped(read('/proc/self/gid_map'), gid)) return `there is no group ${gid} in this container`;
  if (!isPassable(passableTmp())) return `other users may not go through ${tmpdir()}: TMPDIR may name another place`;
  return null;
}

/** Returns the first range that exists; null: this container maps none. */
export function ownersRange(): UserRange | null {
  const [users, groups] = [read('/proc/self/uid_map'), read('/proc/self/gid_map')];
  const isThere = (id: number): boolean => isMapped(users, id) && isMapped(groups, id);
  return USER_RANGES.find(({ first, count }) => isThere(first) && isThere(first + count - 1)) ?? null;
}

/** Returns the folder for temporary files, or the system's own where other users may not enter that one. */
export function passableTmp(): string {
  return [tmpdir(), '/tmp', '/var/tmp'].find(isPassable) ?? tmpdir();
}

/** Reads lines of `first inside, first outside, count`. Without such a file, all users exist. */
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
