// Temporary files of writes that were cut off: a process that was killed before it renamed or removed them.

import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** No write takes as long: what is older is of none that is under way. */
const ABANDONED_MS = 10 * 60_000;

/**
 * Deletes the files of a folder whose names match and that were not written to for 10 minutes. A folder that is not there has
 * none. Rejects with the system's error.
 */
export async function removeAbandoned(folder: string, name: RegExp, nowMs: number): Promise<void> {
  for (const file of await namesIn(folder)) {
    if (!name.test(file)) continue;
    const path = join(folder, file);
    const { mtimeMs } = (await stat(path).catch(() => null)) ?? { mtimeMs: nowMs };
    if (nowMs - mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
}

/** Returns the names of what a folder holds: nothing when it is not there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
