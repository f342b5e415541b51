// The folders of servers that are root, side by side in the system's folder for temporary files: one for each data dir,
// `errand-<hash>`. A killed server leaves its folder behind, and may never be started on that data dir again. So every
// start deletes the folders that no server uses.
//
// A mark in a folder names the server that uses it, `<process id>-server-<pid namespace>`, and exists as long as the
// server runs. A folder stays when its mark is of another namespace, where the process cannot be checked (containers
// may share a folder), or when it has no mark.

import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const FOLDER = /^errand-[0-9a-f]{16}$/;
const MARK = /^(\d+)-server-(\d+)$/;

/** Marks a folder as used by this server; `unmark` undoes it. */
export function mark(folder: string): void {
  mkdirSync(join(folder, ownMark()), { recursive: true });
}

export function unmark(folder: string): void {
  try {
    rmdirSync(join(folder, ownMark()));
  } catch {
    // it is gone already
  }
}

type IsAlive = (pid: number) => boolean;

/** Yields the folders beside `own` whose servers are gone. */
export function* abandonedBeside(own: string, isAlive: IsAlive): Generator<string> {
  if (!FOLDER.test(basename(own))) return;
  const parent = dirname(own);
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (folder !== own && FOLDER.test(name) && isOurs(folder) && isAbandoned(folder, isAlive)) yield folder;
  }
}

function isAbandoned(folder: string, isAlive: IsAlive): boolean {
  const marks = readdirSync(folder).flatMap((entry) => {
    const [, pid, space] = MARK.exec(entry) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), space }];
  });
  return marks.length > 0 && !marks.some(({ pid, space }) => space !== namespace() || isAlive(pid));
}

/**
 * Gives an abandoned folder a new name, to be deleted: deleting takes its time, and a server that starts on the same data dir
 * meanwhile makes a folder of its own. Returns the new path, which a later start finds abandoned, too; null: the folder
 * is used again, or gone.
 */
export function takeAbandoned(folder: string, isAlive: IsAlive): string | null {
  const taken = join(dirname(folder), `errand-${randomBytes(8).toString('hex')}`);
  try {
    if (!isAbandoned(folder, isAlive)) return null;
    renameSync(folder, taken);
    return taken;
  } catch {
    return null;
  }
}

function isOurs(folder: string): boolean {
  try {
    const stats = lstatSync(folder);
    return stats.isDirectory() && stats.uid === process.getuid?.();
  } catch {
    return false; // another start has deleted it
  }
}

function ownMark(): string {
  return `${process.pid}-server-${namespace()}`;
}

/** Returns the namespace of process ids; 0 where the system does not tell. */
function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}
