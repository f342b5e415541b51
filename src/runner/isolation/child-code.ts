// Bundles the program of a child process (child/) into one file of JavaScript; the package has that file.
//
// Measured from spawn to the first answer: 35 ms from one file, 43 ms from the published package's two dozen files, 160
// ms from the checkout, where Node would strip the types of each file in every process. With one file, the process also
// needs to read only its own folder.

import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { bundledProgram, CACHE } from './kept-bundle.ts';

/** `.ts` in the checkout, `.js` in the published package. */
const ENTRY = fileURLToPath(new URL(`../child/main${extname(import.meta.url)}`, import.meta.url));

/** The bundle, made with the package (release/server-program.ts). The checkout has none. */
const BUNDLED = new URL('../../bundled/code.js', import.meta.url);

let text: Promise<string> | undefined;

/** Returns how the program is bundled. `entry`: its first file. */
export function childBuild(entry: string): BuildOptions {
  return { entryPoints: [entry], bundle: true, format: 'esm', platform: 'node', target: 'node24', tsconfigRaw: '{}' };
}

/** Returns the program's text, read or bundled once, also when several servers share this process, as in tests. */
export function childCode(): Promise<string> {
  text ??= readFile(BUNDLED, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    const bundling = { entry: ENTRY, options: childBuild(ENTRY), madeBy: import.meta.filename };
    return bundledProgram(join(CACHE, 'child.json'), bundling);
  });
  return text;
}
