// Modules that the platform provides to users' code: the component API's, the SDK of workflow files, and what stands
// between those and the process. They become part of bundles; sources of this name are left out of stacks.

import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { OnLoadResult, OnResolveResult, PluginBuild } from 'esbuild';

export const NAMESPACE = 'errand';

const EXTENSION = extname(import.meta.url);

/** Specifier → file. Written from the component API's description: the packages of these names are not free software. */
const FILES: Readonly<Record<string, string>> = {
  '@pipedream/platform': './modules/platform',
  '@pipedream/types': './modules/types',
  'errand/workflow': '../sdk/workflow',
  'errand:program': './modules/program',
  'errand:paths': './modules/paths',
};

/** Packages written as CommonJS may ask where they lie. */
export const INJECTED = ['errand:paths'];

/** Names that a package from npm goes before, where it is installed. */
export function isComponentApi(name: string): boolean {
  return name.startsWith('@pipedream/') && Object.hasOwn(FILES, name);
}

/** A module of Errand's own: not the component API's, and no package that could be installed. */
export function isSdk(specifier: string): boolean {
  return /^errand[:/]/.test(specifier) && Object.hasOwn(FILES, specifier);
}

export function provided(specifier: string): OnResolveResult {
  return { path: specifier, namespace: NAMESPACE, sideEffects: false };
}

/** Teaches the bundler where those modules are. */
export function addProvided(build: PluginBuild): void {
  // Between files of one module.
  build.onResolve({ filter: /^\.\//, namespace: NAMESPACE }, ({ path }) => provided(path.replace(/\.[jt]s$/, '')));
  build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }): Promise<OnLoadResult> => {
    const file = FILES[path] ?? `./modules/${path.slice('./'.length)}`;
    const contents = await readFile(new URL(`${file}${EXTENSION}`, import.meta.url));
    return { contents, loader: EXTENSION === '.ts' ? 'ts' : 'js' };
  });
}
