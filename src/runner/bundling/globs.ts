// Keeps `require('./a/' + name)` and import(`./a/${name}`) from the bundler, which takes them for glob patterns: it
// reads every folder and file below the path before it asks a plugin about any of them.
//
// Code without a file has no folder, so patterns in it are refused before it is bundled. What the bundler takes for a
// pattern depends on how it folds constants, so the bundler itself prints the code first. The printed code has
// constants folded, no comments and no unreachable code, and a pattern always begins alike. The printed code is then
// bundled, so that what was checked is what is bundled. Whether such a place is code or part of a string is also left
// to the bundler: a character that no code may have is inserted there, and is an error in code only. (Rejected: a
// parser, own or packaged, which would have to fold constants as the bundler does.)

import { SourceMap } from 'node:module';
import { dirname, join, sep } from 'node:path';
import type { TransformOptions } from 'esbuild';
import { KIB } from '../../domain/limits.ts';
import type { CodeProblem } from './bundle-options.ts';

/** Matches everything that may become a pattern, but not the usual `import x from` and `import "x"`. */
const SUSPECT = /require|\\u|import\s*(?:\(|\/[*/])/;
const CALL = /(?<![\w$]|(?<!\.\.)\.)(?:require|import)\(/g;
/** Matches the begin of an argument, or of one of its branches, that is a string, up to a dot. */
const DOTTED = /(?:^|[?:])(?=[(+}$`{]*["'`])(?:["'`(+}]|\$\{)*\./;
const STATIC = /^(["'`])(?:(?!\1|\$\{)[^\\]|\\.)*\1[,)]/;
/** The budget for nested arguments; beyond it, what may be a pattern counts as one. */
const MAX_LOOKED_AT_CHARS = 8 * 1024 * KIB;
const TOKENS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()]/g;
/** No token contains this character; strings and regular expressions may. */
const SIGN = '§';
/** Minifies white space only: more would drop code that the bundler reads all the same. */
const PRINTED = { loader: 'ts', minifyWhitespace: true, legalComments: 'none', target: 'node24' } as const;

export type Printed =
  | { readonly problem: CodeProblem }
  | {
      readonly problem: null;
      /** The printed code, with its source map. */
      readonly code: string;
      /** Moves a problem from the printed code to the original code. */
      readonly toOriginal: (problem: CodeProblem) => CodeProblem;
    };

/**
 * Returns the printed code, or the first pattern as a problem. Null when the code may be bundled as it is: it has no
 * such call, or does not parse, which the bundler then reports.
 */
export async function withoutGlobs(file: string, code: string): Promise<Printed | null> {
  if (!SUSPECT.test(code)) return null;
  const printed = await transformed(code, { ...PRINTED, sourcemap: 'external', sourcefile: file });
  if (printed === null || 'error' in printed) return null;
  const map = new SourceMap(JSON.parse(printed.map));
  const starts = possiblePatterns(printed.code);
  const fault = starts.length === 0 ? null : await firstInCode(printed.code, starts);
  if (fault !== null) {
    const before = printed.code.slice(0, fault).split('\n');
    const place = originOf(map, before.length, (before.at(-1) as string).length + 1);
    return { problem: { file, line: 1, column: 1, ...place, text: PUT_TOGETHER } };
  }
  const inline = `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(printed.map).toString('base64')}`;
  const toOriginal = (problem: CodeProblem): CodeProblem =>
    problem.file === file ? { ...problem, ...originOf(map, problem.line, problem.column) } : problem;
  return { problem: null, code: printed.code + inline, toOriginal };
}

const PUT_TOGETHER =
  'a path that is put together when the code runs ("./" + name) is not available here: there are no files around this code';

function possiblePatterns(code: string): number[] {
  let left = MAX_LOOKED_AT_CHARS;
  const mayBe = (from: number): boolean => {
    if (left < 0 || STATIC.test(code.slice(from))) return left < 0;
    const argument = code.slice(from, endOf(code, from));
    left -= argument.length;
    return DOTTED.test(argument);
  };
  return [...code.matchAll(CALL)].filter(({ 0: call, index }) => mayBe(index + call.length)).map(({ index }) => index);
}

/**
 * Returns where the call ends whose arguments begin at `from`, skipping strings. When in doubt, the result is behind
 * the end.
 */
function endOf(code: string, from: number): number {
  let depth = 0;
  TOKENS.lastIndex = from;
  for (let found = TOKENS.exec(code); found !== null; found = TOKENS.exec(code)) {
    if (found[0] === '(') depth++;
    else if (found[0] === ')' && --depth < 0) return found.index;
  }
  return code.length;
}

/** Returns the first of these places that is code, and not part of a string; null when there is none. */
async function firstInCode(code: string, starts: readonly number[]): Promise<number | null> {
  const parts = [0, ...starts].map((start, i) => code.slice(start, starts[i]));
  const result = await transformed(parts.join(SIGN), { loader: 'js' });
  if (result === null || !('error' in result)) return null;
  return starts.findLast((start, i) => start + i <= result.error) ?? (starts[0] as number);
}

type Transformed = { readonly code: string; readonly map: string } | { readonly error: number };

/** Runs the bundler's transform. `error` is the offset of the first error. Null when the error has no place. */
async function transformed(code: string, options: TransformOptions): Promise<Transformed | null> {
  // Loaded on demand: the server's process bundles nothing itself.
  const { transform } = await import('esbuild');
  try {
    return await transform(code, { ...options, logLevel: 'silent', logLimit: 1, tsconfigRaw: '{}' });
  } catch (error) {
    const [first] = (error as { errors?: { location: { line: number; column: number } | null }[] }).errors ?? [];
    if (first === undefined) throw error; // the bundler itself cannot be run
    if (!first.location) return null;
    const { line, column } = first.location;
    const lines = code.split('\n');
    const last = Buffer.from(lines[line - 1] ?? '').subarray(0, column);
    return { error: [...lines.slice(0, line - 1), last.toString()].join('\n').length };
  }
}

function originOf(map: SourceMap, line: number, column: number): { line: number; column: number } | object {
  const found = map.findEntry(line - 1, column - 1);
  return 'originalLine' in found ? { line: found.originalLine + 1, column: found.originalColumn + 1 } : {};
}

const IN_FILE = /(?:require|import)\s*\(\s*(?:(["'])(\.\.?\/[^"'\n]*)\1\s*\+|`(\.\.?\/[^`$\n]*)\$\{)/g;

interface EscapingGlob {
  readonly pattern: string;
  /** From 1. */
  readonly line: number;
  /** From 0, in bytes. */
  readonly column: number;
  readonly lineText: string;
}

/**
 * Returns the first pattern in a file that leads out of its package, or out of its root; null when there is none. The
 * operator chooses packages and components: patterns within them are allowed, and their text is not printed first.
 */
export function escapingGlob(path: string, text: string, roots: readonly string[]): EscapingGlob | null {
  const end = path.lastIndexOf(`${sep}node_modules${sep}`);
  const name = /^(?:@[^/\\]+[/\\])?[^/\\]+/.exec(path.slice(end + '/node_modules/'.length))?.[0] ?? '';
  const within = end === -1 ? roots : [join(path.slice(0, end), 'node_modules', name)];
  for (const { 2: quoted, 3: template, index } of text.matchAll(IN_FILE)) {
    const pattern = (quoted ?? template) as string;
    const dir = join(dirname(path), pattern.slice(0, pattern.lastIndexOf('/')));
    if (within.some((root) => dir === root || dir.startsWith(root + sep))) continue;
    const before = text.slice(0, index).split('\n');
    const column = Buffer.byteLength(before.at(-1) as string);
    return { pattern, line: before.length, column, lineText: text.split('\n')[before.length - 1] as string };
  }
  return null;
}
