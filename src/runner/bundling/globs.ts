// Keeps `require('./a/' + name)` and import(`./a/${name}`) from the bundler, which takes them for patterns: it reads every
// folder below the place that they name, and every file, before a plugin is pending about any of it.
//
// Code that is no file has no folder around it, so there they are refused before it is bundled. What the bundler takes
// for a pattern depends on what it folds into constants, so the bundler itself prints the code first: what it prints has
// constants folded, no comments and no code that nothing reaches, and a pattern always begins alike. That is then bundled in
// place of the code, so that what was looked at is what is bundled. Whether such a place is code or only part of a text, the
// bundler says, too: a sign that no code may have is put there, and is a fault in code alone. (Rejected: a parser, of our
// own or of a package: it would have to fold what the bundler folds.)

import { SourceMap } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { type TransformOptions, transform } from 'esbuild';
import { KIB } from '../../domain/limits.ts';
import type { CodeProblem } from './bundle-options.ts';

/** Anything that may become a pattern, and not the usual `import x from` and `import "x"`. */
const SUSPECT = /require|\\u|import\s*(?:\(|\/[*/])/;
const CALL = /(?<![\w$]|(?<!\.\.)\.)(?:require|import)\(/g;
/** What an argument, or a branch of one, begins with that is a text, and the text with a dot. */
const DOTTED = /(?:^|[?:])(?=[(+}$`{]*["'`])(?:["'`(+}]|\$\{)*\./;
const STATIC = /^(["'`])(?:(?!\1|\$\{)[^\\]|\\.)*\1[,)]/;
/** Of arguments within arguments; beyond this, what may be a pattern is taken for one. */
const MAX_LOOKED_AT_CHARS = 8 * 1024 * KIB;
const TOKENS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[()]/g;
/** No token has it; texts and regular expressions may. */
const SIGN = '§';
/** It must not minify more: that drops what is read all the same when it is bundled. */
const PRINTED = { loader: 'ts', minifyWhitespace: true, legalComments: 'none', target: 'node24' } as const;

export type Printed =
  | { readonly problem: CodeProblem }
  | {
      readonly problem: null;
      /** With its map. */
      readonly code: string;
      /** Where the code says what is at that place of `code`. */
      readonly toOriginal: (problem: CodeProblem) => CodeProblem;
    };

/** Null when the code may be bundled as it is: it has nothing like it, or does not parse, of which the bundler tells. */
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

/** Where the call ends whose arguments begin there. Texts are passed over; where that goes wrong, it is behind the end. */
function endOf(code: string, from: number): number {
  let depth = 0;
  TOKENS.lastIndex = from;
  for (let found = TOKENS.exec(code); found !== null; found = TOKENS.exec(code)) {
    if (found[0] === '(') depth++;
    else if (found[0] === ')' && --depth < 0) return found.index;
  }
  return code.length;
}

/** The first of these places that is code, and no part of a text. */
async function firstInCode(code: string, starts: readonly number[]): Promise<number | null> {
  const parts = [0, ...starts].map((start, i) => code.slice(start, starts[i]));
  const result = await transformed(parts.join(SIGN), { loader: 'js' });
  if (result === null || !('error' in result)) return null;
  return starts.findLast((start, i) => start + i <= result.error) ?? (starts[0] as number);
}

type Transformed = { readonly code: string; readonly map: string } | { readonly error: number };

/** `error`: where the first fault is. Null when it has no place. */
async function transformed(code: string, options: TransformOptions): Promise<Transformed | null> {
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
 * The pattern of a file that leads out of its package, or out of the root that it lies in; null when there is none. Packages
 * and components are the operator's choice: their patterns within are honoured, and their text is taken at its word.
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
