// The text of code that is checked: what it declares, which files of its own it consists of, and where something stands.

import { readFile } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import type { CheckProblem } from '../../domain/requests.ts';
import type { Bundled, StepSource } from '../../runner/bundling/bundle.ts';

export interface CheckedCode {
  /** What problems call it. */
  readonly file: string;
  readonly text: string;
  readonly source: StepSource;
  readonly bundled: Extract<Bundled, { ok: true }>;
}

/** A file by what problems call it. */
export interface OwnFile {
  readonly file: string;
  readonly text: string;
}

type CodePosition = Pick<CheckProblem, 'file' | 'line' | 'column'>;

const DEFAULT = /\bexport\s+default\b|\bas\s+default\b|\bmodule\.exports\b|\bexports\.default\b/;
const IN_STACK = /([^\s()]+):(\d+):(\d+)\)?$/m;

/** Returns whether the text has a default export, as far as can be told without its packages. */
export function hasDefault(text: string): boolean {
  return DEFAULT.test(text);
}

/** Returns what code that cannot be loaded says of itself, where it says it in plain text. */
export function declared(text: string): { name: string | null; key: string | null; version: string | null } {
  const value = (member: string): string | null =>
    new RegExp(`^[ \\t]{0,4}${member}:\\s*(["'\`])([^"'\`\\n]{1,200})\\1`, 'm').exec(text)?.[2] ?? null;
  return { name: value('name'), key: value('key'), version: value('version') };
}

/** Returns the code's files without packages; the file itself comes first. */
export async function ownFiles({ file, text, source, bundled }: CheckedCode): Promise<OwnFile[]> {
  const own: OwnFile[] = [{ file, text }];
  if (!('path' in source)) return own;
  for (const input of bundled.inputs) {
    const path = relative(source.dir, input).replaceAll(sep, '/');
    if (path === file || `/${path}`.includes('/node_modules/')) continue;
    const found = await readFile(input, 'utf8').catch(() => null);
    if (found !== null) own.push({ file: path, text: found });
  }
  return own;
}

/** Returns the first place of the text in the files; the begin of the first file when it is in none. */
export function placeIn(files: readonly OwnFile[], wanted: string): CodePosition {
  for (const { file, text } of files) {
    const at = text.indexOf(wanted);
    if (at === -1) continue;
    const before = text.slice(0, at).split('\n');
    return { file, line: before.length, column: (before.at(-1) as string).length + 1 };
  }
  return { file: files[0]?.file ?? '', line: 1, column: 1 };
}

/** Returns the place that the stack of an error names first; the begin of the file when it names none. */
export function placeInStack(stack: string, file: string): CodePosition {
  const found = IN_STACK.exec(stack);
  if (found === null) return { file, line: 1, column: 1 };
  return { file: found[1] as string, line: Number(found[2]), column: Number(found[3]) };
}
