// The letters of one owner in the outbox folder, to be deleted with it. Each file names its owner in a header.

import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn, removeAbandoned } from '../abandoned.ts';

/** The header that a letter in the outbox has, and no letter that is sent. */
export const OWNER_HEADER = 'X-Errand-Owner';

/** The headers are within these bytes: none is as long as an owner could make it. */
const HEAD_BYTES = 16 * 1024;

/** A letter that is not written whole: its owner may not be in it yet. */
const UNFINISHED = /\.eml\.[0-9a-f]+\.tmp$/;

/** Deletes the letters of an owner, and what writes that were killed left of any. A folder that is not there has none. */
export async function removeLetters(outboxDir: string, ownerId: string, nowMs: number): Promise<void> {
  await removeAbandoned(outboxDir, UNFINISHED, nowMs);
  for (const name of (await namesIn(outboxDir)).filter((file) => file.endsWith('.eml') || UNFINISHED.test(file))) {
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
