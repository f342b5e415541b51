// What is shipped: the packages that an installation of ours gets, read from package-lock.json. Those that only one platform
// gets (esbuild's binaries) are among them: somebody gets each.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');

/** An entry of a lockfile of npm, version 3. */
export interface LockEntry {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  readonly name: string;
  readonly version: string;
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockEntry>>;
}

export interface Shipped {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression, as the package says; null: it says nothing. */
  readonly license: string | null;
  readonly isOptional: boolean;
}

const MODULES = 'node_modules/';

export async function readLock(): Promise<Lock> {
  return JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
}

/** Each version once, by name. */
export function shippedIn({ packages }: Lock): Shipped[] {
  const all = new Map<string, Shipped>();
  for (const [path, entry] of Object.entries(packages)) {
    if (path === '' || entry.dev === true) continue;
    const name = entry.name ?? path.slice(path.lastIndexOf(MODULES) + MODULES.length);
    const { version = '', license = null, optional = false } = entry;
    all.set(`${name}@${version}`, { name, version, license, isOptional: optional });
  }
  return [...all.values()].sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version));
}

/** Not localeCompare: every machine writes the same list. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
