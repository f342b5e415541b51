// The modules that the platform provides to users' code: the component API's, the SDK of workflow files, and those
// between that code and the process. They become part of bundles; stacks leave out their frames.

import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { OnLoadResult, OnResolveResult, PluginBuild } from 'esbuild';

export const NAMESPACE = 'errand';

const EXTENSION = extname(import.meta.url);

/**
 * Specifier → file. Written from the component API's description: the packages of these names are not free software.
 */
const FILES: Readonly<Record<string, string>> = {
  '@pipedream/platform': './modules/platform',
  '@pipedream/types': './modules/types',
  // What it was called first.
  '@pipedreamhq/platform': './modules/platform',
  'errand/workflow': '../sdk/workflow',
  'errand:program': './modules/program',
  'errand:paths': './modules/paths',
};

/** Packages written as CommonJS may use `__dirname`. */
export const INJECTED = ['errand:paths'];

/** Returns whether the name is the component API's; an installed package of that name is preferred. */
export function isComponentApi(name: string): boolean {
  return /^@pipedream(hq)?\//.test(name) && Object.hasOwn(FILES, name);
}

/** Returns whether the specifier is a module of Errand's own, which cannot be installed. */
export function isSdk(specifier: string): boolean {
  return /^errand[:/]/.test(specifier) && Object.hasOwn(FILES, specifier);
}

export function provided(specifier: string): OnResolveResult {
  return { path: specifier, namespace: NAMESPACE, sideEffects: false };
}

/** Teaches the bundler where those modules are. */
export function addProvided(build: PluginBuild): void {
  // Imports between files of one module.
  build.onResolve({ filter: /^\.\//, namespace: NAMESPACE }, ({ path }) => provided(path.replace(/\.[jt]s$/, '')));
  build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }): Promise<OnLoadResult> => {
    const file = FILES[path] ?? `./modules/${path.slice('./'.length)}`;
    const contents = await readFile(new URL(`${file}${EXTENSION}`, import.meta.url));
    return { contents, loader: EXTENSION === '.ts' ? 'ts' : 'js' };
  });
}
