// Decides what code may import when the server bundles it: Node's own modules, the platform's modules, packages in the
// folder that the operator provides, a few of Errand's own (own-packages.ts), and, for a component that is a file, other
// files of its folder.
//
// The bundler reads every path that it is given. So every specifier is resolved here, and every file is checked again,
// by its real path, when it is read.

import { readFile, realpath } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, extname, join, sep } from 'node:path';
import type { Loader, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin, PluginBuild, ResolveResult } from 'esbuild';
import { addProvided, isComponentApi, isSdk, NAMESPACE, provided } from '../provided.ts';
import { CODE_FILE, codeFileAt } from './code-file.ts';
import { escapingGlob } from './globs.ts';
import { addOutside, type Outside } from './outside.ts';
import { nameInOwnPackage, resolveOwnPackage } from './own-packages.ts';
import { installable, readSpecifier, type Specifier, satisfies } from './specifier.ts';
import { addUnloadable, missingBinary } from './unloadable.ts';

export interface Roots {
  /** Real paths: nothing outside of these is read. Null: everything may be read, for the operator's own code. */
  readonly within: readonly string[] | null;
  /** The folder for packages that are not found above the importing file. */
  readonly packagesDir: string | null;
  /** The folder of components that the code is a file of; null: it is none. */
  readonly componentsDir: string | null;
  /** Packages that stay outside of the bundle. */
  readonly outside: Outside;
  /** The bundler's name for code without a file; null: there is none. */
  readonly code: string | null;
  /** The path of the workflow file that the code is; null: it is none. */
  readonly program: string | null;
  /** Returns what to do about a missing package. */
  readonly advice: (name: string) => string;
  /** Collects what the code names that is no file of its own: packages and Node's modules. */
  readonly imports: Set<string>;
}

/** The `detail` of an error about a package that is not there. */
export interface MissingPackage {
  readonly missing: string;
}

/**
 * The bundler reads the file that a `sourceMappingURL` comment names, also for code without a file, and uses the last
 * such comment. This one is an address that it cannot read, so the code's own comment is ignored.
 */
export const NO_INPUT_MAP = '\n//# sourceMappingURL=none:';

const RESOLVING = Symbol('resolving');

const LOADERS: Readonly<Record<string, Loader>> = {
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.jsx': 'jsx',
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.json': 'json',
};

export function importable(roots: Roots): Plugin {
  return {
    name: 'errand-importable',
    setup(build) {
      addProvided(build);
      addOutside(build);
      build.onResolve({ filter: /.*/ }, (asked) => {
        if (asked.kind === 'entry-point') return isSdk(asked.path) ? provided(asked.path) : undefined;
        if (asked.pluginData === RESOLVING) return undefined;
        if (roots.program !== null && asked.path === CODE_FILE) return codeFileAt(roots.program);
        if (roots.program !== null && isSdk(asked.path)) return provided(asked.path);
        if (isOwnCode(asked) && !/^\.{0,2}(?:\/|$)/.test(asked.path)) roots.imports.add(asked.path);
        if (isBuiltin(asked.path)) return { path: asked.path, external: true };
        return resolve(build, roots, asked);
      });
      build.onLoad({ filter: /.*/, namespace: 'file' }, ({ path }) => load(roots, path));
      addUnloadable(build);
    },
  };
}

/** Returns whether an import is of the owner's own code: neither a package nor a module of the platform. */
function isOwnCode({ namespace, importer }: OnResolveArgs): boolean {
  return namespace !== NAMESPACE && !importer.includes(`${sep}node_modules${sep}`);
}

async function resolve(build: PluginBuild, roots: Roots, asked: OnResolveArgs): Promise<OnResolveResult | undefined> {
  if (asked.namespace === 'file' && nameInOwnPackage(asked.importer) !== null) return inOwnPackage(build, asked);
  const isFile = asked.namespace === 'file' && asked.importer !== roots.code && isWithin(roots, asked.importer);
  const isPackages = isFile && asked.importer.includes(`${sep}node_modules${sep}`);
  const specifier = readSpecifier(asked.path);
  const missing = isPackages ? await missingBinary(build, asked, RESOLVING) : undefined;
  if (missing !== undefined) return missing;
  if (specifier === null) return isFile ? byPath(asked, isPackages) : refuse(asked.path, NO_FILES);
  const found = await find(build, roots, { asked, specifier, isFile });
  if (found.kind === 'native' || found.kind === 'found') {
    const inBundle = found.kind === 'native' ? undefined : await pinned(specifier, found.result);
    if (inBundle?.errors !== undefined) return inBundle;
    return (await roots.outside.resolve(asked, { specifier, path: found.result.path })) ?? inBundle;
  }
  if (isComponentApi(specifier.name) && specifier.sub === '') return provided(specifier.name);
  const component = await ofComponents(build, roots, { asked, specifier });
  if (component !== undefined) return component;
  const own = isPackages ? undefined : await ownPackage(build, roots, { asked, specifier });
  if (own !== undefined) return own;
  // Packages try to load optional modules and catch the error. The bundler supports that, but would read files outside.
  // Left to the process, such a module is missing as well.
  if (isPackages && found.kind === 'none') return undefined;
  if (isPackages && asked.kind === 'require-call') return { path: asked.path, external: true };
  return refuse(specifier.name, `${NOT_THERE}: ${roots.advice(wanted(specifier))}`, missingOf(specifier));
}

/**
 * Returns the file of a package of Errand's own; an error, with how to add another version, when that was asked for;
 * undefined: it is none.
 */
async function ownPackage(
  build: PluginBuild,
  { advice }: Roots,
  { asked: { kind }, specifier }: { asked: OnResolveArgs; specifier: Specifier },
): Promise<OnResolveResult | undefined> {
  const path = specifier.name + specifier.sub;
  const found = await resolveOwnPackage(build, { kind, path, pluginData: RESOLVING });
  const own = found === null ? undefined : await pinned(specifier, found);
  const fault = own?.errors?.[0];
  if (fault === undefined) return own;
  return { errors: [{ text: `${fault.text}: ${advice(wanted(specifier))}`, detail: missingOf(specifier) }] };
}

/** Returns what a package of Errand's own imports; undefined: the bundler finds it by itself. What it may do without is not there. */
async function inOwnPackage(build: PluginBuild, asked: OnResolveArgs): Promise<OnResolveResult | undefined> {
  const { kind, path, resolveDir, importer } = asked;
  if (/^\.{1,2}(?:$|\/)/.test(path)) return undefined;
  const found = await build.resolve(path, { kind, resolveDir, importer, pluginData: RESOLVING });
  if (found.errors.length === 0 && (found.external || nameInOwnPackage(found.path) !== null)) return undefined;
  return { path, external: true };
}

/** Returns what npm is asked for: the package, in the version that the import pins, unless a shell would read its signs. */
function wanted(specifier: Specifier): string {
  const pinned = installable(specifier) ?? specifier.name;
  return /[<>=*| ]/.test(pinned) ? specifier.name : pinned;
}

/** Returns the `detail` that names the package; undefined when npm has none of that name. */
export function missingOf(specifier: Specifier): MissingPackage | undefined {
  const missing = isSdk(specifier.name + specifier.sub) ? null : installable(specifier);
  return missing === null ? undefined : { missing };
}

/**
 * Returns the file of another app that is imported. Public components name files of other apps by the package of that app,
 * which is the app's folder among components.
 */
async function ofComponents(
  build: PluginBuild,
  roots: Roots,
  { asked, specifier }: { asked: OnResolveArgs; specifier: Specifier },
): Promise<OnResolveResult | undefined> {
  const { componentsDir } = roots;
  const app = /^@pipedream\/([^/]+)$/.exec(specifier.name)?.[1];
  if (app === undefined || componentsDir === null || specifier.sub === '') return undefined;
  const path = `./${app}${specifier.sub}`;
  const found = await build.resolve(path, { kind: asked.kind, resolveDir: componentsDir, pluginData: RESOLVING });
  if (found.errors.length > 0) return undefined;
  if (!isWithin(roots, found.path)) return refuse(asked.path, 'is not available here: it lies outside of the folder');
  return { path: found.path, namespace: found.namespace };
}

const NO_FILES = 'is not available here: there are no files around this code';
const LEADS_OUTSIDE = 'is not available here: a path that is put together when the code runs leads out of its folder';
const NOT_THERE = 'is not available here: there is no such package';

function byPath({ path }: OnResolveArgs, isPackages: boolean): OnResolveResult | undefined {
  const isRelative = /^\.{1,2}($|\/)/.test(path);
  // `#name` is resolved within a package.
  if (isRelative || (isPackages && path.startsWith('#'))) return undefined;
  return refuse(path, 'is not available here: files are named by relative paths');
}

type ImportResolution =
  /** `native`: the bundler finds the same file by itself, and then knows more about it. */
  { kind: 'native' | 'found'; result: ResolveResult } | { kind: 'none' | 'outside' };

async function find(
  build: PluginBuild,
  roots: Roots,
  { asked, specifier, isFile }: { asked: OnResolveArgs; specifier: Specifier; isFile: boolean },
): Promise<ImportResolution> {
  const dirs = isFile ? [asked.resolveDir, roots.packagesDir] : [roots.packagesDir];
  let isOutside = false;
  for (const resolveDir of dirs) {
    if (resolveDir === null) continue;
    const { kind } = asked;
    const path = specifier.name + specifier.sub;
    const result = await build.resolve(path, { kind, resolveDir, pluginData: RESOLVING });
    if (result.errors.length > 0) continue;
    isOutside = !result.external && !isWithin(roots, result.path);
    if (isOutside) continue;
    return { kind: specifier.pin === null && resolveDir === asked.resolveDir ? 'native' : 'found', result };
  }
  return { kind: isOutside ? 'outside' : 'none' };
}

/** Returns the package that was found; an error when another version of it was asked for. */
async function pinned({ name, pin }: Specifier, found: ResolveResult): Promise<OnResolveResult> {
  const { path, namespace, external, sideEffects, suffix } = found;
  const version = pin === null ? null : await versionOf(path);
  if (pin === null || version === null || satisfies(version, pin)) {
    return { path, namespace, external, sideEffects, suffix };
  }
  return refuse(`${name}@${pin}`, `is not available here: ${name} is there in version ${version}`);
}

async function versionOf(path: string): Promise<string | null> {
  for (let dir = dirname(path); dir !== dirname(dir); dir = dirname(dir)) {
    const text = await readFile(join(dir, 'package.json'), 'utf8').catch(() => null);
    const version = text === null ? undefined : (JSON.parse(text) as { version?: unknown }).version;
    if (typeof version === 'string') return version;
  }
  return null;
}

function isWithin({ within }: Roots, path: string): boolean {
  return within === null || within.some((root) => path === root || path.startsWith(root + sep));
}

async function load(roots: Roots, path: string): Promise<OnLoadResult | undefined> {
  // Links are resolved already, except those created since.
  const real = await realpath(path);
  if (!isWithin(roots, real) && nameInOwnPackage(real) === null)
    return refuse(path, 'is not available here: it lies outside of the folder');
  const extension = extname(real);
  const loader = LOADERS[extension];
  if (loader === undefined) return undefined;
  const contents = await readFile(real, 'utf8');
  const escaping = roots.within === null ? null : escapingGlob(real, contents, roots.within);
  if (escaping !== null) {
    const { pattern, ...place } = escaping;
    return { errors: [{ text: `${JSON.stringify(pattern)} ${LEADS_OUTSIDE}`, location: { file: path, ...place } }] };
  }
  return { contents: loader === 'json' ? contents : contents + NO_INPUT_MAP, loader, resolveDir: dirname(path) };
}

function refuse(
  specifier: string,
  why: string,
  detail?: MissingPackage,
): { errors: { text: string; detail: MissingPackage | undefined }[] } {
  return { errors: [{ text: `${JSON.stringify(specifier)} ${why}`, detail }] };
}
