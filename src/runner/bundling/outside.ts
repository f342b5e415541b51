// Packages that stay outside of a bundle: those of a folder that the process of the code is shown as well
// (isolation/package-folders.ts). Node loads them as it loads every package: whatever their size, with the files that lie
// beside them, and what fails in one fails where it is required.
//
// An ES module is left as an import. What a package has as CommonJS goes through a module that requires it, which the
// bundler takes for CommonJS: so its names can be imported as if it were bundled, also those that Node would not find.

import { readFile } from 'node:fs/promises';
import { dirname, extname, join, relative, sep } from 'node:path';
import type { OnResolveArgs, OnResolveResult, PluginBuild } from 'esbuild';
import type { Specifier } from './specifier.ts';

/** Real paths of folders called `node_modules`; null: there is none. */
export interface PackageFolders {
  /** Packages of the operator's, which all code finds by their names. */
  readonly packages: string | null;
  /** Packages of the folder of components, which its components find before those. */
  readonly components: string | null;
}

/** All packages become part of bundles. */
export const NONE_OUTSIDE: PackageFolders = { packages: null, components: null };

/** Where a process sees the packages of the folder of components, from where its bundle lies. */
const COMPONENTS = '../components/node_modules/';
const NAMESPACE = 'errand-package';
/** What Node loads from a package. The rest (TypeScript for instance) becomes part of the bundle. */
const LOADED = ['.js', '.mjs', '.cjs', '.json', '.node', ''];

/** Undefined: the file becomes part of the bundle. */
export async function leftOutside(
  folders: PackageFolders,
  { kind }: Pick<OnResolveArgs, 'kind'>,
  found: { readonly specifier: Specifier; readonly path: string },
): Promise<OnResolveResult | undefined> {
  const { specifier, path } = found;
  if (!LOADED.includes(extname(path))) return undefined;
  const name = nameOutside(folders, specifier, path);
  if (name === null) return undefined;
  const isImport = kind === 'import-statement' || kind === 'dynamic-import';
  if (isImport && (await isModule(path))) return { path: name, external: true };
  return { path: name, namespace: NAMESPACE, sideEffects: true };
}

/** Null: it lies in none of the folders. */
function nameOutside({ packages, components }: PackageFolders, { name, sub }: Specifier, path: string): string | null {
  if (packages !== null && path.startsWith(packages + sep)) return name + sub;
  if (components === null || !path.startsWith(components + sep)) return null;
  return COMPONENTS + relative(components, path).replaceAll(sep, '/');
}

/** As Node decides it. */
async function isModule(path: string): Promise<boolean> {
  if (extname(path) !== '.js') return extname(path) === '.mjs';
  for (let dir = dirname(path); dir !== dirname(dir) && !dir.endsWith(`${sep}node_modules`); dir = dirname(dir)) {
    const text = await readFile(join(dir, 'package.json'), 'utf8').catch(() => null);
    if (text !== null) return (JSON.parse(text) as { type?: unknown }).type === 'module';
  }
  return false;
}

/** Teaches the bundler what stands for a package outside. */
export function addOutside(build: PluginBuild): void {
  build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
    contents: `module.exports = process.getBuiltinModule('node:module').createRequire(__filename)(${JSON.stringify(path)});`,
    loader: 'js',
  }));
}
