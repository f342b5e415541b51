// The content of the folder of workflow files: which files may be workflows, and a stamp of each file, by which a change
// shows.

import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

export interface Scan {
  /** By path in the folder, with slashes: all files except packages and hidden ones. */
  readonly stamps: ReadonlyMap<string, string>;
  /** Absolute paths of the folders that were scanned. */
  readonly folders: readonly string[];
  /** Stamp of the files that affect all others: installed packages, settings of the compiler, the environment. */
  readonly around: string;
}

const CODE = /\.[mc]?[jt]s$/;
const NO_WORKFLOW = /\.(d|test|spec)\.[mc]?[jt]s$/;
/** npm writes it with every install. */
const INSTALLED = join('node_modules', '.package-lock.json');
const AROUND = ['package.json', 'tsconfig.json', INSTALLED, '.env'];

/**
 * Scans a folder for workflow files. `packagesDir`: the server's folder of packages, or null. Rejects when the folder cannot be
 * read.
 */
export async function scanFolder(dir: string, packagesDir: string | null = null): Promise<Scan> {
  const stamps = new Map<string, string>();
  const folders = [dir];
  for (const folder of folders) {
    // A folder that disappears during the scan is no error. Any other failure is: an unreadable folder is not gone.
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
  return { stamps, folders, around: await stampAround(dir, packagesDir) };
}

/** Returns whether a file may be a workflow, by its path in the folder. */
export function mayBeWorkflow(path: string): boolean {
  if (path.split('/').some((name) => name.startsWith('_') || name.startsWith('.'))) return false;
  return CODE.test(path) && !NO_WORKFLOW.test(path);
}

/** Returns an empty stamp for a missing file. Contains both times: a file may get an older file's modification time. */
export async function stampOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  return found ? `${found.mtimeMs}:${found.ctimeMs}:${found.size}:${found.ino}` : '';
}

/** Stamps packages and settings in every folder above, too, where they are looked up. */
async function stampAround(dir: string, packagesDir: string | null): Promise<string> {
  const all = packagesDir === null ? [] : [join(packagesDir, INSTALLED)];
  for (let folder = dir; ; folder = dirname(folder)) {
    all.push(...AROUND.map((name) => join(folder, name)));
    if (dirname(folder) === folder) break;
  }
  return (await Promise.all(all.map(stampOf))).join();
}
