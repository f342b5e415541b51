import { open } from 'node:fs/promises';

/** Writes a file to disk, or the names in a folder. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
