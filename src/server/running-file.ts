// `running.json` in the data dir: the address of the server that runs on it, for the command line. With SQLite there is
// one; of several processes with one data dir, the file names the last that started.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { throwNaming } from '../named-path.ts';

export interface Running {
  readonly pid: number;
  readonly url: string;
}

/** Returns null when the file is missing or unreadable. */
export async function readRunning(path: string): Promise<Running | null> {
  try {
    const { pid, url } = JSON.parse(await readFile(path, 'utf8')) as Partial<Running>;
    return typeof pid === 'number' && typeof url === 'string' ? { pid, url } : null;
  } catch {
    return null;
  }
}

export async function writeRunning(path: string, running: Running): Promise<void> {
  await writeFile(path, `${JSON.stringify(running)}\n`, { mode: 0o600 }).catch(throwNaming(path));
}

/** Keeps the file when another process has replaced it meanwhile. */
export async function removeRunning(path: string, running: Running): Promise<void> {
  const named = await readRunning(path);
  if (named?.pid === running.pid && named.url === running.url) await rm(path, { force: true });
}
