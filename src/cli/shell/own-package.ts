// Where the package of this program is from, for the manifest of a project that depends on it: a file that was packed in a
// checkout, or the registry.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { VERSION } from '../../domain/version.ts';

export interface OwnPackage {
  /** What the manifest says. */
  readonly spec: string;
  /** The folder in which `npm pack` makes the file that the manifest names; null: nothing has to be made. */
  readonly packIn: string | null;
}

const NAME = 'errand';

/** Returns how a project in `dir` names the package. `from`: a folder of the package. */
export async function ownPackage(dir: string, from = import.meta.dirname): Promise<OwnPackage> {
  const root = rootOf(from);
  const registry: OwnPackage = { spec: `^${VERSION}`, packIn: null };
  if (root === null) return registry;
  const fileIn = (path: string): string => `file:${relative(dir, path).split(sep).join('/')}`;
  if (basename(dirname(root)) === 'node_modules') {
    const file = await installedFrom(dirname(root));
    return file === null ? registry : { spec: fileIn(file), packIn: null };
  }
  // A checkout, where nothing is built.
  if (!existsSync(join(root, 'src'))) return registry;
  const packed = join(root, `${NAME}-${VERSION}.tgz`);
  return { spec: fileIn(packed), packIn: existsSync(packed) ? null : root };
}

function rootOf(from: string): string | null {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (at === dirname(at)) return null;
  }
}

/** Returns the packed file that npm has installed the package from; null: it is from the registry, or not there any more. */
async function installedFrom(modules: string): Promise<string | null> {
  const text = await readFile(join(modules, '.package-lock.json'), 'utf8').catch(() => '{}');
  const { packages = {} } = JSON.parse(text) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
  };
  const { resolved = '' } = packages[`node_modules/${NAME}`] ?? {};
  if (!resolved.startsWith('file:')) return null;
  const file = resolve(dirname(modules), resolved.slice('file:'.length));
  return existsSync(file) ? file : null;
}
