// `running.json` in the data dir: where the command line finds the server that runs on it. With SQLite there is one; of
// several processes that were given one data dir, the last that started is named.

import { readFile, rm, writeFile } from 'node:fs/promises';

export interface Running {
  readonly pid: number;
  readonly url: string;
}

/** Null when there is none, or nothing that can be read. */
export async function readRunning(path: string): Promise<Running | null> {
  try {
    const { pid, url } = JSON.parse(await readFile(path, 'utf8')) as Partial<Running>;
    return typeof pid === 'number' && typeof url === 'string' ? { pid, url } : null;
  } catch {
    return null;
  }
}

export async function writeRunning(path: string, running: Running): Promise<void> {
  await writeFile(path, `${JSON.stringify(running)}\n`, { mode: 0o600 });
}

/** Another process may have written its own meanwhile: that one stays. */
export async function removeRunning(path: string, running: Running): Promise<void> {
  const named = await readRunning(path);
  if (named?.pid === running.pid && named.url === running.url) await rm(path, { force: true });
}
