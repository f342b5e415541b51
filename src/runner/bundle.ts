// Bundles one step: what an owner wrote becomes one ES module that needs nothing but Node's own modules.
//
// The bundler runs in the server, so it may read no file for the code's sake: importable.ts answers for every specifier.

import { build, type Message } from 'esbuild';
import { importable } from './importable.ts';

export interface StepSource {
  readonly namespace: string;
  /** JavaScript or TypeScript, an ES module or CommonJS. */
  readonly code: string;
}

export interface CodeProblem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  readonly text: string;
}

export type Bundled =
  | { readonly ok: true; readonly bundle: string; readonly sourceMap: string }
  | { readonly ok: false; readonly problems: readonly CodeProblem[] };

/**
 * The bundler reads the file that a `sourceMappingURL` comment names, also for code that is no file itself, and it heeds
 * the last one: this one, an address that it cannot read. So the code's own is neither read nor believed.
 */
const NO_INPUT_MAP = '\n//# sourceMappingURL=none:';

/** Never rejects on what the code is; only when the bundler itself cannot be run. */
export async function bundleStep({ namespace, code }: StepSource): Promise<Bundled> {
  const file = `${namespace}.ts`;
  try {
    const result = await build({
      stdin: { contents: code + NO_INPUT_MAP, sourcefile: file, loader: 'ts' },
      outfile: `${namespace}.mjs`,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      charset: 'utf8',
      write: false,
      metafile: true,
      sourcemap: 'external',
      sourcesContent: false,
      legalComments: 'none',
      logLevel: 'silent',
      tsconfigRaw: '{}', // or it would look for a tsconfig.json near the server's working directory
      plugins: [importable],
    });
    const output = Object.values(result.metafile.outputs).find((entry) => entry.entryPoint !== undefined);
    if (!output?.exports.includes('default')) return { ok: false, problems: [noDefault(file)] };
    const text = (suffix: string): string => result.outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? '';
    return { ok: true, bundle: text('.mjs'), sourceMap: text('.mjs.map') };
  } catch (error) {
    const messages = (error as { errors?: unknown }).errors;
    if (!Array.isArray(messages)) throw error;
    return { ok: false, problems: (messages as Message[]).map((message) => problemOf(message, file)) };
  }
}

function noDefault(file: string): CodeProblem {
  const text = 'There is no default export: export a component or a function (export default …, or module.exports = …)';
  return { file, line: 1, column: 1, text };
}

export function placed({ file, line, column, text }: CodeProblem): string {
  return `${file}:${line}:${column}: ${text}`;
}

/** The bundler counts columns from 0, and in bytes. */
export function problemOf({ text, location }: Message, file: string): CodeProblem {
  if (location === null) return { file, line: 1, column: 1, text };
  const before = Buffer.from(location.lineText).subarray(0, location.column).toString('utf8');
  return { file: location.file, line: location.line, column: before.length + 1, text };
}
