// A folder of its own for a test, gone afterwards.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** The bytes of every file below it, one string for each. */
  contents(): Promise<Map<string, string>>;
}

export async function createFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'errand-folder-'));
  return {
    path,
    contents: async () => {
      const entries = await readdir(path, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'latin1')] as const)));
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
