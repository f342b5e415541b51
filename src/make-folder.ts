// A folder with those above it, without `recursive` of Node's own mkdir: that never ends where a folder above says that it is
// not there each time, such as below /proc.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a folder that may be there. Returns the first one that it had to make; null: none. Rejects as `mkdir` does. */
export async function makeFolder(path: string, mode = 0o777): Promise<string | null> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' || dirname(path) === path) {
      const isThere = await stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      );
      if (isThere) return null;
      throw error;
    }
  }
  const first = await makeFolder(dirname(path), mode);
  await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return first ?? path;
}
