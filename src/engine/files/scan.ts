// What lies in the folder of workflow files: which of them may be workflows, and a stamp of each file by which a change
// shows.

import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

export interface Scan {
  /** By path in the folder, with slashes: everything but packages and what is hidden. */
  readonly stamps: ReadonlyMap<string, string>;
  /** Absolute paths of the folders that were looked into. */
  readonly folders: readonly string[];
  /** Of what bears on every file: packages that were installed, settings of the compiler, the environment. */
  readonly around: string;
}

const CODE = /\.[mc]?[jt]s$/;
const NO_WORKFLOW = /\.(d|test|spec)\.[mc]?[jt]s$/;
/** `.package-lock.json`: npm writes it with every install. */
const AROUND = ['package.json', 'tsconfig.json', join('node_modules', '.package-lock.json'), '.env'];

/** Rejects when the folder cannot be read. */
export async function scanFolder(dir: string): Promise<Scan> {
  const stamps = new Map<string, string>();
  const folders = [dir];
  for (const folder of folders) {
    // One that went away while we looked is no error. Any other failure is: what cannot be read is not gone.
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (folder === dir || error.code !== 'ENOENT') throw error;
      return [];
    });
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else stamps.set(relative(dir, path).replaceAll(sep, '/'), await stampOf(path));
    }
  }
  return { stamps, folders, around: await stampAround(dir) };
}

/** Whether a file may be a workflow, by its path in the folder. */
export function mayBeWorkflow(path: string): boolean {
  if (path.split('/').some((name) => name.startsWith('_') || name.startsWith('.'))) return false;
  return CODE.test(path) && !NO_WORKFLOW.test(path);
}

/** Empty when it is not there. Both times: a file may be given an older one's. */
export async function stampOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found ? `${found.mtimeMs}:${found.ctimeMs}:${found.size}:${found.ino}` : '';
}

/** Packages and settings are looked for in every folder above, too. */
async function stampAround(dir: string): Promise<string> {
  const all: string[] = [];
  for (let folder = dir; ; folder = dirname(folder)) {
    all.push(...AROUND.map((name) => join(folder, name)));
    if (dirname(folder) === folder) break;
  }
  return (await Promise.all(all.map(stampOf))).join();
}
