// The letters of one owner in the outbox folder, to be deleted with it. Each file names its owner in a header.

import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The header that a letter in the outbox has, and no letter that is sent. */
export const OWNER_HEADER = 'X-Errand-Owner';

/** The headers are within these bytes: none is as long as an owner could make it. */
const HEAD_BYTES = 16 * 1024;

/** Deletes the letters of an owner. A folder that is not there has none. */
export async function removeLetters(outboxDir: string, ownerId: string): Promise<void> {
  const names = await readdir(outboxDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.filter((file) => file.endsWith('.eml'))) {
    const path = join(outboxDir, name);
    if ((await ownerOf(path)) === ownerId) await rm(path, { force: true });
  }
}

async function ownerOf(path: string): Promise<string | null> {
  await using file = await open(path, 'r').catch(() => null);
  if (file === null) return null;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const [head = ''] = buffer.toString('latin1', 0, bytesRead).split('\r\n\r\n');
  return new RegExp(`^${OWNER_HEADER}: (\\S+)\\r?$`, 'm').exec(head)?.[1] ?? null;
}
