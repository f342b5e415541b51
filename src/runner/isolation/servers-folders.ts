// The folders of servers that are root, beside each other in the system's folder for temporary files: one for each data dir,
// `errand-<hash>`. A server that is killed leaves its folder there, and may never be started on that data dir again: so
// every start clears away what no server uses.
//
// Which server uses a folder is said by a mark in it, `<process id>-server-<pid namespace>`, which is there for as long as
// the server is. Where a mark is of another namespace (containers may share a folder) nothing can be said, and the folder
// stays; as does one without any mark.

import { lstatSync, mkdirSync, readdirSync, readlinkSync, rmdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const FOLDER = /^errand-[0-9a-f]{16}$/;
const MARK = /^(\d+)-server-(\d+)$/;

/** To be called by the server that uses the folder; `unmark` undoes it. */
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

/** The folders beside `own` that servers have left which are gone. */
export function* abandonedBeside(own: string, isAlive: (pid: number) => boolean): Generator<string> {
  if (!FOLDER.test(basename(own))) return;
  const parent = dirname(own);
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (folder === own || !FOLDER.test(name) || !isOurs(folder)) continue;
    const marks = readdirSync(folder).flatMap((entry) => {
      const [, pid, space] = MARK.exec(entry) ?? [];
      return pid === undefined ? [] : [{ pid: Number(pid), space }];
    });
    const isUsed = marks.some(({ pid, space }) => space !== namespace() || isAlive(pid));
    if (marks.length > 0 && !isUsed) yield folder;
  }
}

function isOurs(folder: string): boolean {
  try {
    const stats = lstatSync(folder);
    return stats.isDirectory() && stats.uid === process.getuid?.();
  } catch {
    return false; // another start has cleared it away
  }
}

function ownMark(): string {
  return `${process.pid}-server-${namespace()}`;
}

/** Of process ids; 0 where the system does not tell. */
function namespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}
