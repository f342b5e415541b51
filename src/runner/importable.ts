// What a step may import: Node's own modules, and a few that the platform provides.

import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { extname } from 'node:path';
import type { Plugin } from 'esbuild';

/** Specifier → the module here that stands in for it, written from the component API's description. */
const PROVIDED: Readonly<Record<string, string>> = {
  '@pipedream/platform': 'platform',
  '@pipedream/types': 'types',
};

const NAMESPACE = 'errand';
const PINNED = /^(@[^/@]+\/[^/@]+|[^/@]+)@[^/]+$/;
const EXTENSION = extname(import.meta.url);

/** Answers for every specifier, so that the bundler never looks one up among the server's files. */
export const importable: Plugin = {
  name: 'errand-importable',
  setup(build) {
    build.onResolve({ filter: /.*/ }, ({ path }) => {
      if (isBuiltin(path)) return { path, external: true };
      const name = PINNED.exec(path)?.[1] ?? path;
      if (Object.hasOwn(PROVIDED, name)) return { path: name, namespace: NAMESPACE };
      return {
        errors: [{ text: `${JSON.stringify(path)} is not available here: steps can import only Node's own modules` }],
      };
    });
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => ({
      contents: await readFile(new URL(`./modules/${PROVIDED[path]}${EXTENSION}`, import.meta.url)),
      loader: EXTENSION === '.ts' ? 'ts' : 'js',
    }));
  },
};
