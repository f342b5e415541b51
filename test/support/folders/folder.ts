// A folder of its own for a test, gone afterwards.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** The bytes of every file below it, one string for each; of one that a process deletes meanwhile, nothing. */
  contents(): Promise<Map<string, string>>;
}

export async function createFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'errand-folder-'));
  return {
    path,
    contents: async () => {
      const entries = await readdir(path, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      const read = (file: string): Promise<string> => readFile(file, 'latin1').catch(orGone);
      return new Map(await Promise.all(files.map(async (file) => [file, await read(file)] as const)));
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

function orGone(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
