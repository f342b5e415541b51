// Packages that code may import although no folder of packages has them: dependencies of Errand's own, which become part of
// bundles. An installed package of the same name is preferred.
//
// `axios` is there because public components import it beside the platform's own. The bundler is shown the folders of these
// packages and of what they need, and no other dependency of Errand's.

import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { OnResolveArgs, PluginBuild, ResolveResult } from 'esbuild';

const NAMES = ['axios'];

/** Imports of these packages, also of their files. */
export const OWN_PACKAGE = new RegExp(`^(?:${NAMES.join('|')})(?:/|$)`);

interface Needs {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Folder → name, of the packages and of all that they need. Real paths. */
let folders: ReadonlyMap<string, string> | undefined;

function ownFolders(): ReadonlyMap<string, string> {
  folders ??= findFolders();
  return folders;
}

function findFolders(): Map<string, string> {
  const found = new Map<string, string>();
  const waiting = NAMES.map((name) => ({ name, from: import.meta.dirname }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { name, from } = next;
    const dir = folderOf(name, from);
    if (dir === null || found.has(dir)) continue;
    found.set(dir, name);
    const { dependencies = {} } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Needs;
    waiting.push(...Object.keys(dependencies).map((needed) => ({ name: needed, from: dir })));
  }
  return found;
}

/** Returns the folder of a package as Node finds it; null: it is not there. (Not all have their package.json exported.) */
function folderOf(name: string, from: string): string | null {
  for (let dir = from; ; dir = dirname(dir)) {
    try {
      return dirname(realpathSync(join(dir, 'node_modules', name, 'package.json')));
    } catch {
      if (dir === dirname(dir)) return null;
    }
  }
}

/** Returns the folders that the bundler must be able to read. */
export function ownPackageFolders(): string[] {
  return [...ownFolders().keys()];
}

/** Returns the path of a file of these packages as stacks show it, `node_modules/<package>/<path>`; null: it is none of theirs. */
export function nameInOwnPackage(path: string): string | null {
  for (const [dir, name] of ownFolders()) {
    if (path.startsWith(dir + sep)) return ['node_modules', name, ...relative(dir, path).split(sep)].join('/');
  }
  return null;
}

/** Returns the file that an import of one of these packages means; null: it is no such package, or has no such file. */
export async function resolveOwnPackage(
  build: PluginBuild,
  { kind, path, pluginData }: Pick<OnResolveArgs, 'kind' | 'path' | 'pluginData'>,
): Promise<ResolveResult | null> {
  if (!OWN_PACKAGE.test(path)) return null;
  const dir = [...ownFolders()].find(([, name]) => path === name || path.startsWith(`${name}/`))?.[0];
  if (dir === undefined) return null;
  const resolveDir = dir.slice(0, dir.lastIndexOf(`${sep}node_modules${sep}`)) || sep;
  const found = await build.resolve(path, { kind, resolveDir, pluginData });
  return found.errors.length === 0 ? found : null;
}
