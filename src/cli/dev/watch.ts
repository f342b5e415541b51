// Tells that a file of a folder was saved. Each folder is watched by itself: Node's recursive watching would open every file
// of every package.

import { type FSWatcher, watch } from 'node:fs';
import { dirname, join } from 'node:path';

/** Editors and copies write a file in several steps. */
const QUIET_MS = 100;
const CODE = /\.[cm]?[jt]sx?$|\.json$/;

interface Watching {
  readonly dir: string;
  /** Returns the paths, with slashes, of code below a folder. */
  readonly list: (dir: string) => Promise<readonly string[]>;
  readonly onSave: () => void;
}

/** Returns what ends it. Where a folder cannot be watched, its saves are not told. */
export function watchSaves({ dir, list, onSave }: Watching): () => void {
  const watchers = new Map<string, FSWatcher>();
  let quiet: NodeJS.Timeout | undefined;
  let isEnded = false;
  const saved = (_event: string, name: string | null): void => {
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      void refresh();
      if (name === null || CODE.test(name)) onSave();
    }, QUIET_MS);
  };
  const refresh = async (): Promise<void> => {
    const paths = await list(dir).catch(() => []);
    const folders = new Set([dir, ...paths.map((path) => dirname(join(dir, path)))]);
    for (const folder of folders) if (!watchers.has(folder)) open(folder);
  };
  const open = (folder: string): void => {
    if (isEnded) return;
    try {
      const watcher = watch(folder, { persistent: false }, saved);
      watcher.on('error', () => {
        watcher.close();
        watchers.delete(folder);
      });
      watchers.set(folder, watcher);
    } catch {
      // The server polls, too.
    }
  };
  void refresh();
  return () => {
    isEnded = true;
    clearTimeout(quiet);
    for (const watcher of watchers.values()) watcher.close();
  };
}
