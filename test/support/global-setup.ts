// For `node --test --test-global-setup=…`: what tests write lies in memory (a server starts in 257 ms then, and else in 493).
// Nothing is tested by waiting for a disk: what must survive does so a killed process, and never a power cut. A TMPDIR that is
// set is kept.

import { quickFolder } from './folders/memory.ts';

const ENOUGH_BYTES = 4 * 1024 ** 3;

export async function globalSetup(): Promise<void> {
  process.env.TMPDIR ??= await quickFolder(ENOUGH_BYTES);
}
