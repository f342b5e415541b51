// Writes npm-shrinkwrap.json, the lockfile that goes into the package: whoever installs it gets the versions that were tested,
// with their hashes, and not the newest that fit. It is made when the package is packed, and not kept in the repository, where
// npm would take it for the lockfile. The argument is where to write it: the folder of the package.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Lock, type LockEntry, ROOT, readLock } from './shipped.ts';

export const SHRINKWRAP = 'npm-shrinkwrap.json';

/** Without what is only for development. */
export function shrinkwrapOf(lock: Lock): Lock {
  const packages = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true);
  return { ...lock, packages: Object.fromEntries(packages.map(([path, entry]) => [path, withoutDev(path, entry)])) };
}

function withoutDev(path: string, entry: LockEntry): LockEntry {
  if (path !== '') return entry;
  const { devDependencies: _, ...root } = entry;
  return root;
}

/** Works in a folder that is to npm the package as it is shipped: its manifest and its lockfile, and nothing for development. */
export async function inShippedFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const { devDependencies: _, ...manifest } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly devDependencies: object;
  };
  const parent = await mkdtemp(join(tmpdir(), 'errand-shipped-'));
  const dir = join(parent, manifest.name); // npm names the package after its folder
  try {
    await mkdir(dir);
    await writeFile(join(dir, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(dir, 'package-lock.json'), JSON.stringify(shrinkwrapOf(await readLock())));
    return await work(dir);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

/** Packages that are pinned by no hash of what they are. */
export function unpinnedIn({ packages }: Lock): string[] {
  return Object.entries(packages)
    .filter(([path, { integrity = '' }]) => path !== '' && !integrity.startsWith('sha512-'))
    .map(([path]) => path);
}

async function main(folder: string): Promise<void> {
  const shrinkwrap = shrinkwrapOf(await readLock());
  const unpinned = unpinnedIn(shrinkwrap);
  if (unpinned.length > 0) throw new Error(`package-lock.json has no sha512 of ${unpinned.join(', ')}`);
  await writeFile(join(folder, SHRINKWRAP), `${JSON.stringify(shrinkwrap, null, 2)}\n`);
}

if (import.meta.main) await main(process.argv[2] ?? ROOT);
