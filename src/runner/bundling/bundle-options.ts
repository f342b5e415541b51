// The options and results that all bundles of users' code have in common.

import { type BuildOptions, build, type Message } from 'esbuild';
import { KIB } from '../../domain/limits.ts';
import { INJECTED } from '../provided.ts';

export const MAX_BUNDLE_BYTES = 8 * 1024 * KIB;

/** The result is one ES module that needs only Node's own modules. */
const COMMON = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  conditions: [], // as Node's own: without `module`, which is of bundlers
  target: 'node24',
  charset: 'utf8',
  write: false,
  metafile: true,
  sourcemap: 'external',
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'silent',
  outfile: 'bundle.mjs',
  inject: INJECTED,
} as const satisfies BuildOptions;

export interface CodeProblem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  readonly text: string;
  /** The package that is not there, as npm takes it (`luxon@^3`); left out: the problem is another one. */
  readonly missing?: string;
}

export interface Built {
  readonly bundle: string;
  readonly sourceMap: string;
  readonly metafile: NonNullable<Awaited<ReturnType<typeof build>>['metafile']>;
  readonly warnings: readonly Message[];
}

export type BuildResult =
  | { readonly ok: true; readonly built: Built }
  | { readonly ok: false; readonly messages: readonly Message[] };

/** Runs the bundler. Rejects only when the bundler itself cannot be run; problems in the code are in the result. */
export async function bundleWith(options: BuildOptions): Promise<BuildResult> {
  try {
    const result = await build({ ...COMMON, ...options, metafile: true, write: false });
    const text = (suffix: string): string => result.outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? '';
    const { metafile, warnings } = result;
    return { ok: true, built: { bundle: text('.mjs'), sourceMap: text('.mjs.map'), metafile, warnings } };
  } catch (error) {
    const messages = (error as { errors?: unknown }).errors;
    if (!Array.isArray(messages)) throw error;
    return { ok: false, messages: messages as Message[] };
  }
}

/** Returns the problem of a bundle that is too large; null when its size is allowed. */
export function tooLarge(file: string, { bundle }: Built): CodeProblem | null {
  const bytes = Buffer.byteLength(bundle);
  if (bytes <= MAX_BUNDLE_BYTES) return null;
  const text = `with what it imports it has ${bytes} bytes, but at most ${MAX_BUNDLE_BYTES} are taken`;
  return { file, line: 1, column: 1, text };
}

/** Formats a problem as compilers do: `file:line:column: text`. */
export function formatProblem({ file, line, column, text }: CodeProblem): string {
  return `${file}:${line}:${column}: ${text}`;
}

/**
 * Converts a message of the bundler, which counts columns from 0 and in bytes. `file` is used when the message names no
 * file.
 */
export function problemOf({ text, location }: Message, file: string): CodeProblem {
  if (location === null) return { file, line: 1, column: 1, text };
  const before = Buffer.from(location.lineText).subarray(0, location.column).toString('utf8');
  return { file: location.file, line: location.line, column: before.length + 1, text };
}

/** Returns the specifier that the bundler could not resolve; null when the message says something else. */
export function unresolvedIn({ text }: Message): string | null {
  return /^Could not resolve "([^"]+)"/.exec(text)?.[1] ?? null;
}
