// Bundles a workflow file together with everything that the file imports, packages from npm included.
//
// The whole program goes into the bundle of the first step. The bundle of every other step is one line that imports the
// first bundle by its name in the process's folder (workdir.ts). The code is stored once, however many steps there are,
// and the steps of one process share the state of its modules. (Rejected: a whole bundle for each step. Ten steps with
// a package of a megabyte would be ten megabytes in the store and ten copies in the process, each with its own state.)
//
// A step that comes over HTTP is bundled by bundle.ts. A file lies in a folder of the operator, who also chooses what
// the file imports, so the bundler may read everything that the file names.
//
// Packages of the server's folder of packages stay outside (outside.ts). Those above the file become part of the bundle: other
// nodes and a later start may not have them. `errand deploy` knows no folder of the server, and bundles them all.

import { readFile, realpath } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { resolve, sep } from 'node:path';
import type { BuildOptions, Message, Metafile, OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild';
import { addProvided, isComponentApi, isSdk, NAMESPACE, provided } from '../provided.ts';
import { bundleWith, type CodeProblem, KEEP_OUTSIDE, problemOf, tooLarge, unresolvedIn } from './bundle-options.ts';
import { addOutside, NONE_OUTSIDE, Outside, type PackageFolders } from './outside.ts';
import { OWN_PACKAGE, resolveOwnPackage } from './own-packages.ts';
import { ENTRY, entryOf, isWithoutDefault } from './program-entry.ts';
import { readSpecifier } from './specifier.ts';
import { syntaxProblem } from './syntax.ts';
import { addUnloadable, BINARY, missingBinary } from './unloadable.ts';

export interface WorkflowFile {
  /** An absolute path. */
  readonly dir: string;
  /** The file's path in the folder, with slashes. */
  readonly path: string;
}

export type BundledFile =
  | {
      readonly kind: 'workflow';
      readonly bundle: string;
      readonly sourceMap: string;
      readonly inputs: readonly string[];
      /** Whether the file imports the SDK of workflow files. */
      readonly usesSdk: boolean;
    }
  /** The file has no default export: other files may import it. */
  | {
      readonly kind: 'module';
      readonly inputs: readonly string[];
      /** Whether it uses `defineWorkflow` all the same. */
      readonly definesWorkflow: boolean;
    }
  | { readonly kind: 'broken'; readonly problems: readonly CodeProblem[] };

/** The packages of a server; `dir` is null where there are none. */
export interface ServerPackages {
  readonly dir: string | null;
  /** The folders whose packages stay outside of the bundle. */
  readonly outside: PackageFolders;
}

/** The module `errand/workflow` among the inputs of a bundle. */
const SDK = `${NAMESPACE}:errand/workflow`;

const NO_PACKAGES: ServerPackages = { dir: null, outside: NONE_OUTSIDE };

/**
 * Bundles a workflow file. `inputs` are the absolute paths of the files in the bundle, without packages, and of the packages'
 * files that stay outside. Never rejects because of the code.
 */
export async function bundleFile({ dir, path }: WorkflowFile, packages = NO_PACKAGES): Promise<BundledFile> {
  const outside = new Outside(packages.outside);
  const packagesDir = packages.dir === null ? null : await realpath(packages.dir).catch(() => null);
  const options: BuildOptions = {
    stdin: { contents: entryOf(`./${path}`), sourcefile: ENTRY, resolveDir: dir, loader: 'js' },
    absWorkingDir: dir,
    minifyWhitespace: true, // saves a fifth; stacks are mapped anyway
    plugins: [fileModules({ packagesDir, outside })],
  };
  const result = await bundleWith(options);
  if (!result.ok) {
    return { kind: 'broken', problems: result.messages.map((message) => explained(message, { dir, path, packages })) };
  }
  const { sourceMap, metafile, warnings } = result.built;
  const inputs = [...inputsOf(metafile, dir), ...outside.files];
  if (isEmpty(metafile, path) || warnings.some(isWithoutDefault)) {
    return { kind: 'module', inputs, definesWorkflow: await definesWorkflow(metafile, { dir, path }) };
  }
  const wrong = tooLarge(path, result.built) ?? (await syntaxProblem(path, result.built, options));
  if (wrong) return { kind: 'broken', problems: [wrong] };
  const usesSdk = Object.keys(metafile.inputs).includes(SDK);
  return { kind: 'workflow', bundle: result.built.bundle + (await outside.mark()), sourceMap, inputs, usesSdk };
}

const RESOLVING = Symbol('resolving');

interface Modules {
  /** A real path; null: the server has no folder of packages. */
  readonly packagesDir: string | null;
  readonly outside: Outside;
}

/** Resolves modules and packages of the server where a folder has none; all else is resolved from the disk. */
const fileModules = (modules: Modules): Plugin => ({
  name: 'errand-file-modules',
  setup(build) {
    addProvided(build);
    addOutside(build);
    addUnloadable(build);
    build.onResolve({ filter: BINARY }, (asked) =>
      asked.pluginData === RESOLVING ? undefined : missingBinary(build, asked, RESOLVING),
    );
    build.onResolve({ filter: /^[^./#]/ }, async (asked) => {
      const { path } = asked;
      if (isSdk(path)) return provided(path);
      if (asked.pluginData === RESOLVING || isBuiltin(path)) return undefined;
      const found = await ofPackages(build, asked, modules);
      if (found !== undefined || !isComponentApi(path)) return found;
      const { kind, resolveDir, importer } = asked;
      const own = await build.resolve(path, { kind, resolveDir, importer, pluginData: RESOLVING });
      return own.errors.length === 0 ? own : provided(path);
    });
    build.onResolve({ filter: OWN_PACKAGE }, async ({ path, kind, resolveDir, importer, pluginData }) => {
      if (pluginData === RESOLVING) return undefined;
      const installed = await build.resolve(path, { kind, resolveDir, importer, pluginData: RESOLVING });
      if (installed.errors.length === 0) return undefined;
      return (await resolveOwnPackage(build, { path, kind, pluginData: RESOLVING })) ?? undefined;
    });
  },
});

/**
 * Returns the package of the server's folder; undefined: it has none of that name, or the file finds another one above it.
 * A folder of workflows may lie in the folder of packages, or its `node_modules` may be a link to it.
 */
async function ofPackages(
  build: PluginBuild,
  asked: OnResolveArgs,
  { packagesDir, outside }: Modules,
): Promise<OnResolveResult | undefined> {
  const specifier = packagesDir === null ? null : readSpecifier(asked.path);
  if (packagesDir === null || specifier === null || specifier.pin !== null) return undefined;
  const { path, kind, resolveDir, importer } = asked;
  const theirs = await build.resolve(path, { kind, resolveDir: packagesDir, pluginData: RESOLVING });
  // A folder above may have packages, too: those are not for code.
  const isTheirs = theirs.errors.length === 0 && !theirs.external && theirs.path.startsWith(packagesDir + sep);
  if (!isTheirs) return undefined;
  const own = await build.resolve(path, { kind, resolveDir, importer, pluginData: RESOLVING });
  const isOwn = own.errors.length === 0;
  if (isOwn && own.path !== theirs.path) return undefined;
  return (await outside.resolve(asked, { specifier, path: theirs.path })) ?? (isOwn ? undefined : theirs);
}

/** Returns the bundles of a workflow's steps, in order. */
export function stepBundles(
  namespaces: readonly string[],
  whole: { readonly bundle: string; readonly sourceMap: string },
): { readonly namespace: string; readonly bundle: string; readonly sourceMap: string }[] {
  return namespaces.map((namespace, i) => {
    if (i === 0) return { namespace, bundle: whole.bundle, sourceMap: whole.sourceMap };
    const from = JSON.stringify(`./${namespaces[0]}.mjs`);
    const bundle = `import { steps } from ${from};\nexport default steps[${JSON.stringify(namespace)}];\n`;
    return { namespace, bundle, sourceMap: NO_MAP };
  });
}

const NO_MAP = '{"version":3,"sources":[],"names":[],"mappings":""}';

function inputsOf({ inputs }: Metafile, dir: string): string[] {
  return Object.keys(inputs)
    .filter((input) => !input.startsWith(`${NAMESPACE}:`) && !`/${input}`.includes('/node_modules/'))
    .map((input) => resolve(dir, input.replaceAll('/', sep)));
}

/** Returns whether the file itself imports `errand/workflow`, types aside, and names `defineWorkflow`. */
async function definesWorkflow({ inputs }: Metafile, { dir, path }: WorkflowFile): Promise<boolean> {
  const imports = inputs[entryIn(inputs, path)?.path ?? '']?.imports ?? [];
  if (!imports.some((one) => one.path === SDK)) return false;
  return /\bdefineWorkflow\b/.test(await readFile(resolve(dir, path), 'utf8').catch(() => ''));
}

function entryIn(inputs: Metafile['inputs'], path: string) {
  return inputs[ENTRY]?.imports.find(({ original }) => original === `./${path}`);
}

/** Returns whether a file has only types and comments: such a file has no format. (The path itself may be a link.) */
function isEmpty({ inputs }: Metafile, path: string): boolean {
  const entry = entryIn(inputs, path);
  return entry !== undefined && inputs[entry.path]?.format === undefined;
}

interface Explaining extends WorkflowFile {
  readonly packages: ServerPackages;
}

function explained(message: Message, { dir, path, packages }: Explaining): CodeProblem {
  const problem = problemOf(message, path);
  const specifier = unresolvedIn(message);
  if (specifier === null && `/${problem.file}`.includes('/node_modules/')) {
    return { ...problem, text: `${problem.text}: ${KEEP_OUTSIDE}` };
  }
  if (specifier === null || /^[./#]|^[a-z]+:/i.test(specifier)) return problem;
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  if (isBuiltin(name)) return problem;
  const others = packages.dir === null ? '' : `, or "npm install --prefix ${packages.dir} ${name}"`;
  const text = `the package ${JSON.stringify(name)} is not there: run "npm install ${name}" in ${dir}, or in the folder above it that has your package.json${others}`;
  return { ...problem, text };
}
