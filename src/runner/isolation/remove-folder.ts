// Deletes a folder that code has written to, whatever it has left there: a million files, folders so deep that no path
// leads to the innermost, names that are no text. One entry at a time. (Rejected: Node's `rm`, which begins with all entries
// of a folder at once: 80,000 of them held up the server for seconds, and took 200 MB.)

import { randomBytes } from 'node:crypto';
import { chmod, opendir, rename, rmdir, unlink } from 'node:fs/promises';

const BATCH = 256;
/** Half of what the system takes. A folder with a longer path is moved up. */
const MAX_PATH_BYTES = 2048;
const OWN_MODE = 0o700;
const SLASH = Buffer.from('/');

interface Entry {
  readonly path: Buffer;
  readonly isFolder: boolean;
}

/** Deletes a folder with everything in it; links are not followed. Rejects with the system's error when something stays. */
export async function removeFolder(path: string): Promise<void> {
  const top = Buffer.from(path);
  await emptyFolder(top, top);
  await unlessGone(rmdir(top));
}

async function emptyFolder(folder: Buffer, top: Buffer): Promise<void> {
  const first = (): Promise<Entry[]> => permitted([folder], () => readFirst(folder));
  // Closed in between: each folder on the way down would otherwise hold a descriptor.
  for (let entries = await first(); entries.length > 0; entries = await first()) {
    for (const { path, isFolder } of entries) {
      if (!isFolder) await permitted([folder], () => unlessGone(unlink(path)));
      else if (path.length > MAX_PATH_BYTES) {
        const moved = inside(top, randomName());
        await permitted([folder, path], () => unlessGone(rename(path, moved)));
      } else {
        await emptyFolder(path, top);
        await permitted([folder], () => unlessGone(rmdir(path)));
      }
    }
  }
}

/** Acts once more when the folders' modes, which code may have changed, have forbidden it. */
async function permitted<T>(folders: readonly Buffer[], act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    for (const folder of folders) await chmod(folder, OWN_MODE);
    return await act();
  }
}

/** Returns the first entries of a folder; none: it is empty, or gone. */
async function readFirst(folder: Buffer): Promise<Entry[]> {
  const entries: Entry[] = [];
  const opened = await unlessGone(opendir(folder, { encoding: 'buffer' as BufferEncoding, bufferSize: BATCH }));
  if (opened === null) return entries;
  try {
    for (let left = BATCH; left > 0; left--) {
      const entry = await opened.read();
      if (entry === null) break;
      entries.push({ path: inside(folder, entry.name as unknown as Buffer), isFolder: entry.isDirectory() });
    }
  } finally {
    await opened.close();
  }
  return entries;
}

function inside(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, SLASH, name]);
}

function randomName(): Buffer {
  return Buffer.from(randomBytes(16).toString('hex'));
}

async function unlessGone<T>(done: Promise<T>): Promise<T | null> {
  try {
    return await done;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}
