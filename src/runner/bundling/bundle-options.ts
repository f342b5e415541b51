// The options and results that all bundles of users' code have in common.

import type { BuildOptions, build, Message } from 'esbuild';
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
    // Loaded on demand: the server reads the problems that another process found, and bundles nothing.
    const esbuild = await import('esbuild');
    const result = await esbuild.build({ ...COMMON, ...options, metafile: true, write: false });
    const text = (suffix: string): string => result.outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? '';
    const { metafile, warnings } = result;
    return { ok: true, built: { bundle: findsAsNode(text('.mjs')), sourceMap: text('.mjs.map'), metafile, warnings } };
  } catch (error) {
    const messages = (error as { errors?: unknown }).errors;
    if (!Array.isArray(messages)) throw error;
    return { ok: false, messages: messages as Message[] };
  }
}

/** How the bundler finds a module whose path is put together when the code runs, as it is and with white space minified. */
const FINDS = [
  `var __glob = (map) => (path) => {
  var fn = map[path];
  if (fn) return fn();
  throw new Error("Module not found in bundle: " + path);
};`,
  'var __glob=map=>path=>{var fn=map[path];if(fn)return fn();throw new Error("Module not found in bundle: "+path)};',
] as const;
const FINDS_AS_NODE = [
  `var __glob = (map) => (path) => {
  var fn = ["", ".js", ".json", "/index.js"].map((end) => map[path + end]).find((found) => found);
  if (fn) return fn();
  throw new Error("Module not found in bundle: " + path);
};`,
  'var __glob=m=>p=>{for(var e of["",".js",".json","/index.js"])if(e=m[p+e])return e();throw Error("No file "+p)};',
] as const;

/** Replaces it: Node finds files without their extensions, too. What follows stays at its place, as the source map says. */
function findsAsNode(bundle: string): string {
  const i = FINDS.findIndex((text) => bundle.includes(text));
  const [plain, other] = [FINDS[i], FINDS_AS_NODE[i]];
  return plain === undefined || other === undefined ? bundle : bundle.replace(plain, () => other.padEnd(plain.length));
}

/** What to do about packages that cannot be bundled, or only into too large a bundle. */
export const KEEP_OUTSIDE =
  'install such packages in the folder of packages of the server (ERRAND_PACKAGES_DIR) instead, and let the server bundle ' +
  'the file (ERRAND_WORKFLOWS_DIR): it loads them from there, and bundles only the rest';

/** Returns the problem of a bundle that is too large; null when its size is allowed. */
export function tooLarge(file: string, { bundle }: Built): CodeProblem | null {
  const bytes = Buffer.byteLength(bundle);
  if (bytes <= MAX_BUNDLE_BYTES) return null;
  const text = `with what it imports it has ${bytes} bytes, but at most ${MAX_BUNDLE_BYTES} are taken: ${KEEP_OUTSIDE}`;
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
