// Bundles the program of a child process (child/) into one file of JavaScript.
//
// Measured from spawn to the first answer: 35 ms from one file, 43 ms from the published package's two dozen files, 160
// ms from the checkout, where Node would strip the types of each file in every process. With one file, the process also
// needs to read only its own folder.

import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `.ts` in the checkout, `.js` in the published package. */
const ENTRY = fileURLToPath(new URL(`../child/main${extname(import.meta.url)}`, import.meta.url));

let text: Promise<string> | undefined;

/** Returns the program's text, bundled once, also when several servers share this process, as in tests. */
export function childCode(): Promise<string> {
  text ??= bundleChild();
  return text;
}

/**
 * Bundles the child's code, synchronously, for about 30 ms: the asynchronous build would leave a process of the bundler running
 * as long as the server.
 */
async function bundleChild(): Promise<string> {
  const { buildSync } = await import('esbuild');
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
