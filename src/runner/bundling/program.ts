// The file that the process that bundles is started from: its modules, or one file of them all, which a checkout keeps.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { DAY_MS } from '../../domain/limits.ts';
import { bundledProgram, CACHE, writeWhole } from '../isolation/kept-bundle.ts';

/** `.ts` in the checkout, `.js` in the published package. */
export const MODULES = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url));

/** A module of the program that finds files by its own place; whichever file it comes to be in, they are found from there. */
const PLACE = fileURLToPath(new URL(`../provided${extname(import.meta.url)}`, import.meta.url));

/** In two, since the package's build (release/server-program.ts) replaces the whole by a place. */
const META = ['import', 'meta'].join('.');

const OPTIONS: BuildOptions = {
  entryPoints: [MODULES],
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  packages: 'external',
  tsconfigRaw: '{}',
  define: {
    [`${META}.url`]: JSON.stringify(pathToFileURL(PLACE).href),
    [`${META}.dirname`]: JSON.stringify(dirname(PLACE)),
  },
};

/** Of all services of this process, as in tests. */
let kept: string | null | undefined;

/**
 * Returns the one file of the program. Null: there is none, since this is a package, its folder cannot be written to, or
 * `node_modules` is a link, of which the jail and the permission model know only where it leads to the packages.
 */
export function keptProgram(): string | null {
  if (extname(MODULES) !== '.ts') return null;
  if (kept === undefined || (kept !== null && !existsSync(kept))) kept = makeProgram();
  return kept;
}

function makeProgram(): string | null {
  const packages = dirname(dirname(CACHE));
  try {
    if (realpathSync(packages) !== packages) return null;
    const bundling = { entry: MODULES, options: OPTIONS, madeBy: import.meta.filename };
    const text = bundledProgram(join(CACHE, 'bundler.json'), bundling);
    // Of each text its own file: a process may be starting with the one of a server that began before the sources were changed.
    const path = join(CACHE, `bundler-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.mjs`);
    if (!existsSync(path)) {
      removeOld();
      writeWhole(path, text);
    }
    return path;
  } catch {
    return null;
  }
}

function removeOld(): void {
  for (const name of readdirSync(CACHE).filter((one) => one.startsWith('bundler-'))) {
    const path = join(CACHE, name);
    if (statSync(path).mtimeMs < Date.now() - DAY_MS) rmSync(path, { force: true });
  }
}
