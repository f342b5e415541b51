// Bundles of programs of child processes, kept in the checkout: to make one takes 0.3 s of the processor, and to start a program
// from its sources, whose types Node strips, 0.1 s more than from one file (bench/README.md). Hundreds of servers of the tests
// would take both, one after the other.

import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';

interface Kept {
  /** The files that it was made of, each with its state. */
  readonly from: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Where the checkout keeps what it has made, between two starts. */
export const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/errand', import.meta.url));

export interface Bundling {
  /** The program's first file. */
  readonly entry: string;
  readonly options: BuildOptions;
  /** The module that says how it is bundled. */
  readonly madeBy: string;
}

/** Returns the text of a program in one file, kept at `path`. Bundles it, for about 75 ms, when none is kept, or what it was made of has changed. */
export function bundledProgram(path: string, { entry, options, madeBy }: Bundling): string {
  const kept = keptBundle(path, entry);
  if (kept !== null) return kept;
  const begunMs = Date.now();
  const require = createRequire(import.meta.url);
  // The asynchronous build would leave a process of the bundler running as long as the server.
  const { buildSync } = require('esbuild') as typeof import('esbuild');
  const { outputFiles, metafile } = buildSync({ ...options, write: false, metafile: true, logLevel: 'silent' });
  const { text } = outputFiles[0] as { text: string };
  const inputs = Object.keys(metafile.inputs).map((input) => resolve(input));
  keepBundle(path, { files: [...inputs, import.meta.filename, madeBy, require.resolve('esbuild')], text, begunMs });
  return text;
}

/**
 * Returns the text that was kept. Null: there is none, it was made of another `entry`, as in a copy that has the same packages, or
 * a file that it was made of has changed.
 */
export function keptBundle(path: string, entry: string): string | null {
  try {
    const { from, text } = JSON.parse(readFileSync(path, 'utf8')) as Kept;
    if (from[entry] === undefined) return null;
    return Object.entries(from).every(([file, state]) => stateOf(file).state === state) ? text : null;
  } catch {
    return null;
  }
}

/** Keeps a text. `begunMs`: before the files were read; one that was changed since may be another one than the text has. */
export function keepBundle(path: string, made: { files: readonly string[]; text: string; begunMs: number }): void {
  const { files, text, begunMs } = made;
  try {
    const states = files.map((file) => [file, stateOf(file)] as const);
    if (states.some(([, { changedMs }]) => changedMs >= begunMs)) return;
    const kept: Kept = { from: Object.fromEntries(states.map(([file, { state }]) => [file, state])), text };
    writeWhole(path, JSON.stringify(kept));
  } catch {
    // In a checkout that cannot be written to it is made with each start.
  }
}

/** Writes a file in one step: others read it meanwhile, or write their own. */
export function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const own = `${path}.${randomUUID()}`;
  writeFileSync(own, text);
  renameSync(own, path);
}

function stateOf(file: string): { state: string; changedMs: number } {
  const { mtimeMs, ctimeMs, size } = statSync(file);
  // Tools that unpack a release may give each file the same `mtime`; its `ctime` is the system's own.
  return { state: `${mtimeMs} ${ctimeMs} ${size}`, changedMs: Math.max(mtimeMs, ctimeMs) };
}
