// What a workflow file may import besides what lies on its disk: the SDK, which the server brings along so that a folder
// needs no package of it, and the component API's modules where the folder has no packages of these names.

import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Plugin } from 'esbuild';

/** Sources under this name are the platform's: stacks leave them out. */
export const NAMESPACE = 'errand';

const EXTENSION = extname(import.meta.url);

/** Specifier → file. */
const PROVIDED: Readonly<Record<string, string>> = {
  'errand/workflow': '../sdk/workflow',
  'errand:program': './modules/program',
  'errand:paths': './modules/paths',
  '@pipedream/platform': './modules/platform',
  '@pipedream/types': './modules/types',
};

const RESOLVING = Symbol('resolving');

export const fileModules: Plugin = {
  name: 'errand-file-modules',
  setup(build) {
    build.onResolve({ filter: /^errand[:/]|^@pipedream\/(platform|types)$/ }, async ({ path, ...asked }) => {
      if (asked.pluginData === RESOLVING || !Object.hasOwn(PROVIDED, path)) return undefined;
      if (path.startsWith('@')) {
        const { kind, resolveDir, importer } = asked;
        const own = await build.resolve(path, { kind, resolveDir, importer, pluginData: RESOLVING });
        if (own.errors.length === 0) return own;
      }
      return { path, namespace: NAMESPACE };
    });
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => ({
      contents: await readFile(new URL(`${PROVIDED[path]}${EXTENSION}`, import.meta.url)),
      loader: EXTENSION === '.ts' ? 'ts' : 'js',
    }));
  },
};
