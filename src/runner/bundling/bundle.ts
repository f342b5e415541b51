// Bundles one step or component: an owner's code, or a file of the operator, becomes one ES module that needs only
// Node's own modules. importable.ts decides what may become part of the bundle.

import { readFile, realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { BuildOptions, Message } from 'esbuild';
import { type BuildResult, bundleWith, type CodeProblem, problemOf, tooLarge, unresolvedIn } from './bundle-options.ts';
import { CODE_FILE, codeFile, plainFile, plainSources } from './code-file.ts';
import { withoutGlobs } from './globs.ts';
import { importable, type MissingPackage, missingOf, NO_INPUT_MAP, type Roots } from './importable.ts';
import { NONE_OUTSIDE, Outside, type PackageFolders } from './outside.ts';
import { nameInOwnPackage } from './own-packages.ts';
import { ENTRY, entryOf, isWithoutDefault } from './program-entry.ts';
import { readSpecifier } from './specifier.ts';
import { syntaxProblem } from './syntax.ts';

export type StepSource = CodeSource | FileSource;

interface CodeSource {
  readonly namespace: string;
  /** JavaScript or TypeScript, an ES module or CommonJS. */
  readonly code: string;
  /** The code is a whole workflow file with this path, and there are no other files. Absent: it is a step's. */
  readonly file?: string;
}

export interface FileSource {
  readonly namespace: string;
  /** The real path of the file's folder. Only this folder and the folder of packages may be read. */
  readonly dir: string;
  /** The file's path in the folder, with slashes. */
  readonly path: string;
  /** The file may import everything that it names: it belongs to the caller, or to Errand. */
  readonly isTrusted?: boolean;
}

export type Bundled =
  | {
      readonly ok: true;
      readonly bundle: string;
      readonly sourceMap: string;
      /** Absolute paths of the files in the bundle. */
      readonly inputs: readonly string[];
      readonly imports?: readonly string[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly CodeProblem[];
      /** Packages and Node's modules that the code and its files name, sorted; left out where it was not read. */
      readonly imports?: readonly string[];
    };

/** The problem of code without a default export: a file that others import has none. */
export const NO_DEFAULT =
  'There is no default export: export a component or a function (export default …, or module.exports = …)';

/**
 * Bundles one step. `packagesDir` is the folder of packages; null: there is none. `outside`: folders whose packages stay
 * outside of the bundle. Never rejects because of the code.
 */
export async function bundleStep(
  source: StepSource,
  packagesDir: string | null = null,
  outside: PackageFolders = NONE_OUTSIDE,
): Promise<Bundled> {
  const packages = packagesDir === null ? null : await realpath(packagesDir).catch(() => null);
  const roots = rootsOf(source, { packages, asked: packagesDir, outside });
  const isFile = 'path' in source;
  const file = fileOf(source);
  const isProgram = !isFile && source.file !== undefined;
  const printed = isFile ? null : await withoutGlobs(file, source.code);
  if (printed?.problem) return { ok: false, problems: [printed.problem] };
  const base = isFile ? source.dir : (packages ?? undefined);
  const options: BuildOptions = {
    ...(isFile
      ? { entryPoints: [resolve(source.dir, source.path)] }
      : {
          stdin: {
            ...(isProgram
              ? { contents: entryOf(CODE_FILE), sourcefile: ENTRY }
              : { contents: printed?.code ?? source.code + NO_INPUT_MAP, sourcefile: file }),
            loader: 'ts',
            resolveDir: base,
          },
        }),
    ...(base === undefined ? {} : { absWorkingDir: base }),
    minifyWhitespace: isFile, // packages may be many, and stacks are mapped anyway
    tsconfigRaw: '{}', // or it would look for a tsconfig.json near the server's working directory
    plugins: [
      importable(roots),
      ...(isProgram ? [codeFile({ file, code: printed?.code ?? source.code + NO_INPUT_MAP, base })] : []),
    ],
  };
  const code = isFile || isProgram ? null : source.code;
  const result = await readResult(await bundleWith(options), { file, roots, base, options, code });
  const read = { ...result, imports: [...roots.imports].sort() };
  if (read.ok || isFile) return read;
  const inCode = printed?.toOriginal ?? ((problem: CodeProblem) => atItsEnd(problem, source.code));
  return { ...read, problems: read.problems.map((problem) => (problem.file === file ? inCode(problem) : problem)) };
}

/**
 * Moves a problem behind the last line to the end of the code: code that ends too early is wrong at its end, not in the
 * line that is appended.
 */
function atItsEnd(problem: CodeProblem, code: string): CodeProblem {
  const lines = code.split('\n');
  if (problem.line <= lines.length) return problem;
  return { ...problem, line: lines.length, column: (lines.at(-1) as string).length + 1 };
}

function fileOf(source: StepSource): string {
  return 'path' in source ? source.path : (source.file ?? `${source.namespace}.ts`);
}

interface Packages {
  /** A real path. */
  readonly packages: string | null;
  readonly asked: string | null;
  readonly outside: PackageFolders;
}

function rootsOf(source: StepSource, { packages, asked, outside }: Packages): Roots {
  const dir = 'path' in source ? [source.dir] : [];
  const isTrusted = 'path' in source && source.isTrusted === true;
  const file = fileOf(source);
  return {
    within: isTrusted ? null : [...dir, ...(packages === null ? [] : [packages])],
    packagesDir: packages,
    componentsDir: 'path' in source ? source.dir : null,
    outside: new Outside(isTrusted ? NONE_OUTSIDE : outside),
    code: 'path' in source ? null : packages === null ? file : resolve(packages, file),
    program: 'path' in source ? null : (source.file ?? null),
    imports: new Set(),
    advice: (name) => {
      if (isTrusted)
        return `run "npm install ${name}" in ${dir[0]}, or in the folder above it that has your package.json`;
      if (asked === null) return NO_FOLDER;
      return `add it with "npm install --prefix ${asked} ${name}", or use "errand deploy", which bundles packages where it is called`;
    },
  };
}

const NO_FOLDER =
  'this server has no folder of packages (ERRAND_PACKAGES_DIR); "errand deploy" bundles packages where it is called';

interface FileRead {
  readonly file: string;
  readonly roots: Roots;
  readonly base: string | undefined;
  readonly options: BuildOptions;
  /** The text of a step; null: of a file, or of a program that was bundled before. */
  readonly code: string | null;
}

/**
 * Returns whether code is CommonJS that exports nothing. A `return` outside of functions, as in nodes of other products, makes it
 * CommonJS, and what CommonJS exports is known only when it runs.
 */
function exportsNothing(code: string, format: 'cjs' | 'esm' | undefined): boolean {
  return format === 'cjs' && !/\b(exports|module|this)\b/.test(code);
}

async function readResult(result: BuildResult, { file, roots, base, options, code }: FileRead): Promise<Bundled> {
  if (!result.ok) return { ok: false, problems: result.messages.map((message) => explained(message, file, roots)) };
  const { built } = result;
  const output = Object.values(built.metafile.outputs).find((entry) => entry.entryPoint !== undefined);
  const hasDefault = output?.exports.includes('default') && !built.warnings.some(isWithoutDefault);
  if (!hasDefault || (code !== null && exportsNothing(code, built.metafile.inputs[file]?.format)))
    return { ok: false, problems: [noDefault(file)] };
  const wrong = tooLarge(file, built) ?? (await syntaxProblem(file, built, options));
  if (wrong) return { ok: false, problems: [{ ...wrong, file: inPackages(plainFile(wrong.file)) }] };
  const names = Object.keys(built.metafile.inputs).filter((name) => !/^errand[:-]/.test(name) && name !== file);
  const inputs =
    base === undefined
      ? []
      : [...names.map((name) => resolve(base, name.replaceAll('/', sep))), ...roots.outside.files];
  const bundle = built.bundle + (await roots.outside.mark());
  const sourceMap = withoutPlaces(plainSources(built.sourceMap), base ?? process.cwd());
  return { ok: true, bundle, sourceMap, inputs };
}

/** Removes from a source map where packages are: those paths are internal to the server. `base`: what its paths are relative to. */
function withoutPlaces(sourceMap: string, base: string): string {
  if (!/\.\.\/|node_modules\//.test(sourceMap)) return sourceMap;
  const map = JSON.parse(sourceMap) as { sources: string[] };
  const sources = map.sources.map((path) => nameInOwnPackage(resolve(base, path)) ?? inPackages(path));
  return JSON.stringify({ ...map, sources });
}

function inPackages(path: string): string {
  return path.replace(/^(\.\.\/).*?(node_modules\/)/, '$2');
}

function noDefault(file: string): CodeProblem {
  return { file, line: 1, column: 1, text: NO_DEFAULT };
}

function explained(message: Message, file: string, { advice }: Roots): CodeProblem {
  const found = problemOf(message, file);
  const problem = { ...found, file: plainFile(found.file) };
  const detail: MissingPackage | undefined = message.detail;
  const placed = { ...problem, file: inPackages(problem.file), ...detail };
  const unresolved = unresolvedIn(message);
  if (unresolved === null) return placed;
  const specifier = readSpecifier(unresolved);
  if (specifier === null) return { ...placed, text: `there is no file ${JSON.stringify(unresolved)} here` };
  const text = `the package ${JSON.stringify(specifier.name)} is not there: ${advice(specifier.name)}`;
  return { ...placed, text, ...missingOf(specifier) };
}

/** Returns the source text as its author wrote it. */
export function readSource({ dir, path }: FileSource): Promise<string> {
  return readFile(resolve(dir, path), 'utf8');
}
