// Packages that stay outside of a bundle: those of a folder that the process of the code is shown as well
// (isolation/package-folders.ts). Node loads them as it loads every package: whatever their size, with the files that lie
// beside them, and what fails in one fails where it is required.
//
// The bundle says at its end which contents of them it was made for: code that is deployed again after a package has changed
// is other code, and a new process loads the package.
//
// An ES module is left as an import. What a package has as CommonJS goes through a module that requires it, which the
// bundler takes for CommonJS: so its names can be imported as if it were bundled, also those that Node would not find.

import { createHash } from 'node:crypto';
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

/** The packages of one bundle that stay outside. */
export class Outside {
  readonly #folders: PackageFolders;
  /** Name in the bundle → the file that it means. */
  readonly #found = new Map<string, string>();

  constructor(folders: PackageFolders) {
    this.#folders = folders;
  }

  /** Returns the files that they mean; absolute paths. */
  get files(): string[] {
    return [...this.#found.values()];
  }

  /** Returns what the import becomes; undefined: the file becomes part of the bundle. */
  async resolve(
    { kind }: Pick<OnResolveArgs, 'kind'>,
    { specifier, path }: { readonly specifier: Specifier; readonly path: string },
  ): Promise<OnResolveResult | undefined> {
    const name = LOADED.includes(extname(path)) ? nameOutside(this.#folders, specifier, path) : null;
    if (name === null) return undefined;
    this.#found.set(name, path);
    const isImport = kind === 'import-statement' || kind === 'dynamic-import';
    if (isImport && (await isModule(path))) return { path: name, external: true };
    return { path: name, namespace: NAMESPACE, sideEffects: true };
  }

  /** Returns the comment that ends the bundle: each package by its name and what its file has; empty: there is none. */
  async mark(): Promise<string> {
    if (this.#found.size === 0) return '';
    const marks = [...this.#found].map(async ([name, path]) => {
      const { version = '' } = (await packageOf(path)) ?? {};
      return `${name}@${version}#${createHash('sha256')
        .update(await readFile(path))
        .digest('hex')
        .slice(0, 16)}`;
    });
    return `\n//# packages=${encodeURI((await Promise.all(marks)).sort().join(','))}\n`;
  }
}

interface PackageJson {
  readonly type?: unknown;
  readonly version?: unknown;
}

/** Reads the description of the package that a file belongs to; undefined: there is none. */
async function packageOf(path: string): Promise<PackageJson | undefined> {
  for (let dir = dirname(path); dir !== dirname(dir) && !dir.endsWith(`${sep}node_modules`); dir = dirname(dir)) {
    const text = await readFile(join(dir, 'package.json'), 'utf8').catch(() => null);
    if (text !== null) return JSON.parse(text) as PackageJson;
  }
  return undefined;
}

/** Names a package by the folder it lies in; null: it lies in none of the folders. */
function nameOutside({ packages, components }: PackageFolders, { name, sub }: Specifier, path: string): string | null {
  if (packages !== null && path.startsWith(packages + sep)) return name + sub;
  if (components === null || !path.startsWith(components + sep)) return null;
  return COMPONENTS + relative(components, path).replaceAll(sep, '/');
}

/** Returns whether a file is an ES module, as Node decides it. */
async function isModule(path: string): Promise<boolean> {
  if (extname(path) !== '.js') return extname(path) === '.mjs';
  return (await packageOf(path))?.type === 'module';
}

/** Teaches the bundler what stands for a package outside. */
export function addOutside(build: PluginBuild): void {
  build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
    contents: `module.exports = process.getBuiltinModule('node:module').createRequire(__filename)(${JSON.stringify(path)});`,
    loader: 'js',
  }));
}
