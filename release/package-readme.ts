// Puts the package's own README in the place of the repository's while the package is packed: npm takes README.md, and nothing
// else. `swap` before, `restore` after; a pack that was interrupted is restored by calling `restore`.

import { existsSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './shipped.ts';

export const PACKAGE_README = join(ROOT, 'release/package-readme.md');
const README = join(ROOT, 'README.md');
const KEPT = join(ROOT, 'README.md.repository');

async function swap(): Promise<void> {
  // After an interrupted pack, README.md is the package's already.
  if (!existsSync(KEPT)) await rename(README, KEPT);
  await copyFile(PACKAGE_README, README);
}

async function restore(): Promise<void> {
  if (existsSync(KEPT)) await rename(KEPT, README);
}

if (import.meta.main) await (process.argv[2] === 'restore' ? restore() : swap());
