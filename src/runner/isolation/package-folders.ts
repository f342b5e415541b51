// Folders of installed packages that processes of code load from, read-only: those of ERRAND_PACKAGES_DIR and those of the
// folder of components.
//
//   <folder of the process>/node_modules            → packages/node_modules: what code and `createRequire` find by name
//                          /packages/node_modules   → the operator's folder; in a jail, where it is mounted
//                          /components/node_modules → that of the folder of components

import { chmodSync, existsSync, mkdirSync, realpathSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PackageFolders } from '../bundling/outside.ts';
import type { CodeUser } from './isolation.ts';

const NODE_MODULES = 'node_modules';
const KINDS = ['packages', 'components'] as const;
const [READ, PASS] = [0o004, 0o001];

export interface PackageSettings {
  readonly packagesDir: string | null;
  readonly componentsDir: string | null;
  /** Who the code runs as; null: the server's own user. */
  readonly user: CodeUser | null;
}

/** Returns the folders as they are now, without those that the code's user may not read. */
export function findPackageFolders({ packagesDir, componentsDir, user }: PackageSettings): PackageFolders {
  return { packages: nodeModulesIn(packagesDir, user), components: nodeModulesIn(componentsDir, user) };
}

function nodeModulesIn(dir: string | null, user: CodeUser | null): string | null {
  if (dir === null) return null;
  try {
    const path = realpathSync(join(dir, NODE_MODULES));
    return user === null || isReadableByOthers(path) ? path : null;
  } catch {
    return null; // nothing has been installed there
  }
}

/** Returns whether any user may list the folder, and pass through all folders above it. */
function isReadableByOthers(path: string): boolean {
  const may = (dir: string, rights: number): boolean => (statSync(dir).mode & rights) === rights;
  if (!may(path, READ | PASS)) return false;
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    if (!may(dir, PASS)) return false;
    if (dir === dirname(dir)) return true;
  }
}

/** Makes the folders and links of a process. `mounted`: its system will show it the folders, and only their places are made. */
export function linkPackages(dir: string, folders: PackageFolders, mounted: boolean): void {
  for (const kind of KINDS) {
    const folder = folders[kind];
    if (folder === null) continue;
    makeOpen(join(dir, kind));
    const place = join(dir, kind, NODE_MODULES);
    if (mounted) makeOpen(place);
    else symlinkSync(folder, place);
    if (kind === 'packages') symlinkSync(join(kind, NODE_MODULES), join(dir, NODE_MODULES));
  }
}

/** Makes a folder that the code's user may enter, whatever the server's umask is. */
function makeOpen(dir: string): void {
  mkdirSync(dir);
  chmodSync(dir, 0o755);
}

/** Returns the folders that a process's own folder has a place for: packages installed later are not for this process. */
export function linkedIn(dir: string, { packages, components }: PackageFolders): PackageFolders {
  const isLinked = (kind: (typeof KINDS)[number]): boolean => existsSync(join(dir, kind));
  return { packages: isLinked('packages') ? packages : null, components: isLinked('components') ? components : null };
}

/** Returns arguments of bubblewrap. `dir`: the process's folder as it sees it. */
export function packageMounts(dir: string, folders: PackageFolders): string[] {
  return KINDS.flatMap((kind) => {
    const folder = folders[kind];
    return folder === null ? [] : ['--ro-bind', folder, join(dir, kind, NODE_MODULES)];
  });
}

/** Returns what Node's permission model lets a process read besides its own folder. */
export function readablePackages({ packages, components }: PackageFolders): string[] {
  return [packages, components].filter((folder) => folder !== null).map((folder) => join(folder, '*'));
}
