// The program of a child process (child/), as one file of JavaScript.
//
// Measured from spawn to the first answer: 35 ms from one file, 43 ms from the published package's two dozen files, 160 ms
// from the checkout, where Node would strip the types of each of them in every process. It also narrows what a process
// must be allowed to read to its own folder.

import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** `.ts` in the checkout, `.js` in the published package. */
const ENTRY = fileURLToPath(new URL(`../child/main${extname(import.meta.url)}`, import.meta.url));

let text: Promise<string> | undefined;

/** Its text. Bundled once, also where a process has several servers, as tests do. */
export function childCode(): Promise<string> {
  text ??= bundleChild();
  return text;
}

/** Synchronous, for about 30 ms: no process of the bundler is left behind then, which would be the server's for good. */
async function bundleChild(): Promise<string> {
  const { outputFiles } = buildSync({
    entryPoints: [ENTRY],
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    write: false,
    logLevel: 'silent',
    tsconfigRaw: '{}',
  });
  return (outputFiles[0] as { text: string }).text;
}
