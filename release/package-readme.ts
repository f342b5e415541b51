// Puts the package's own README in the place of the repository's while the package is packed: npm takes README.md, and nothing
// else. `swap` before, `restore` after; a pack that was interrupted is restored by calling `restore`.

import { existsSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './shipped.ts';

export const PACKAGE_README = join(ROOT, 'release/package-readme.md');
/** Not beside README.md: whatever begins with that name is packed. */
const KEPT = 'release/repository-readme.md';

export async function swap(root = ROOT): Promise<void> {
  const [readme, kept] = [join(root, 'README.md'), join(root, KEPT)];
  // After an interrupted pack, README.md is the package's already.
  if (!existsSync(kept)) await rename(readme, kept);
  await copyFile(PACKAGE_README, readme);
}

async function restore(): Promise<void> {
  const kept = join(ROOT, KEPT);
  if (existsSync(kept)) await rename(kept, join(ROOT, 'README.md'));
}

if (import.meta.main) await (process.argv[2] === 'restore' ? restore() : swap());
