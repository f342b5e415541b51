// References to steps that have got other names: members of the variable `steps`, in code and in the expressions of props. Texts, comments
// and members of other objects that are called `steps` stay as they are.
//
// What looks like a reference is found by its form. Whether it is code is left to the bundler, which parses what runs here in the end: a
// character that no code may have is inserted there, and is an error in code only. Whether `steps` declares a variable or is a value is
// found likewise, with a number in its place. What cannot be told is returned by its line, for the person who moves.
// (Rejected: a parser of its own for JavaScript and TypeScript, which all installations would get for this one command.)

import { partsOf } from '../../domain/expressions.ts';
import type { Renames } from './step-names.ts';

/** A text with its references changed; lines count from 1. */
export interface Changed {
  readonly text: string;
  readonly changedLines: readonly number[];
  /** Where `steps` is used in a way that does not say which step is meant. */
  readonly unclearLines: readonly number[];
  /** Where the code has a variable `steps` of its own: none of its references is changed. */
  readonly ownLines: readonly number[];
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Names in the place of `steps` where code refers to it, and what is changed there. */
interface Reference {
  readonly at: number;
  readonly edits: readonly Edit[];
  /** Some of what is taken out of `steps` has no name here. */
  readonly isUnclear?: boolean;
  /** How far an object reaches that is a reference only if it takes something apart, and is no value. */
  readonly patternTo?: number;
}

const NAME = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$]*`;
/** The variable: not the end of a longer name, nor a member of another object. */
const STEPS = String.raw`(?=steps)(?<![\p{ID_Continue}$#]|(?<!\.\.)\.\s*)steps(?![\p{ID_Continue}$])`;
const ANY = new RegExp(STEPS, 'gu');
const MEMBER = new RegExp(String.raw`${STEPS}\s*(?:\?\.|\.)\s*(${NAME})`, 'dgu');
const IN_BRACKETS = new RegExp(String.raw`${STEPS}\s*(?:\?\.)?\s*\[\s*(['"\x60])((?:(?!\1|[\\$]).)+)\1\s*\]`, 'dgu');
const TAKEN_APART = new RegExp(String.raw`\}\s*=\s*(${STEPS})(?!\s*(?:\?\.|[.[(]))`, 'dgu');
const PATTERN = new RegExp(String.raw`${STEPS}\s*:\s*(\{|${NAME})`, 'dgu');
const DECLARED = new RegExp(
  String.raw`\b(?:const|let|var|class|function)\s+(?:\{[^{}=]*?)?(${STEPS})(?!\s*:)|\bcatch\s*\(\s*(${STEPS})`,
  'dgu',
);
const PART = new RegExp(String.raw`^\s*(?:(['"])(.+?)\1|(${NAME}))\s*(:|=|$)`, 'du');
/** No token has this character; texts and comments may. */
const SIGN = '§';

/** Returns the code with its references changed. */
export async function codeWithNames(code: string, renames: Renames): Promise<Changed> {
  const none = { text: code, changedLines: [], unclearLines: [], ownLines: [] };
  if (renames.size === 0 || !code.includes('steps') || !(await parses(code))) return none;
  const references = await inCode(code, referencesIn(code, renames));
  const seen = new Set(references.map(({ at }) => at));
  const unclear = references.filter(({ isUnclear }) => isUnclear).map(({ at }) => at);
  for (const { index: at } of code.matchAll(ANY)) {
    if (!seen.has(at) && isWhole(code, at) && (await isValue(code, at))) unclear.push(at);
  }
  const edits = references.flatMap((reference) => reference.edits);
  const declared = edits.length === 0 ? [] : await inCode(code, declarationsIn(code));
  const lineOf = (at: number): number => code.slice(0, at).split('\n').length;
  const linesOf = (places: readonly number[]): number[] => [...new Set(places.map(lineOf))].sort((a, b) => a - b);
  if (declared.length > 0) return { ...none, ownLines: linesOf(declared.map(({ at }) => at)) };
  const changedLines = linesOf(edits.map(({ from }) => from));
  return { ...none, text: withEdits(code, edits), changedLines, unclearLines: linesOf(unclear) };
}

/** Returns the value of a prop with the references in the expressions of its texts changed. */
export async function valueWithNames(value: unknown, renames: Renames): Promise<unknown> {
  if (typeof value === 'string') return textWithNames(value, renames);
  if (Array.isArray(value)) return Promise.all(value.map((item) => valueWithNames(item, renames)));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(async ([name, member]) => [name, await valueWithNames(member, renames)]);
  return Object.fromEntries(await Promise.all(members));
}

async function textWithNames(text: string, renames: Renames): Promise<string> {
  const parts: string[] = [];
  let isChanged = false;
  for (const part of partsOf(text) ?? []) {
    if (typeof part === 'string') parts.push(part);
    else {
      const { text: changed } = await codeWithNames(`(${part.expression}\n)`, renames);
      const expression = changed.slice(1, -2);
      isChanged ||= expression !== part.expression;
      parts.push(`{{${expression}}}`);
    }
  }
  return isChanged ? parts.join('') : text;
}

/** Returns all that has the form of a reference to a renamed step, or takes `steps` apart. */
function referencesIn(code: string, renames: Renames): Reference[] {
  const found: Reference[] = [];
  for (const match of [...code.matchAll(MEMBER), ...code.matchAll(IN_BRACKETS)]) {
    const name = match.at(-1) ?? '';
    const [from = 0, to = 0] = match.indices?.at(-1) ?? [];
    const text = renames.get(name);
    if (text !== undefined) found.push({ at: match.index, edits: [{ from, to, text }] });
  }
  for (const { index, indices } of code.matchAll(TAKEN_APART)) {
    const from = openingOf(code, index);
    if (from !== null)
      found.push({ at: indices?.[1]?.[0] ?? 0, ...partsIn(code, { from: from + 1, to: index }, renames) });
  }
  for (const { index: at, 1: value, indices } of code.matchAll(PATTERN)) {
    const [from = 0, end = 0] = indices?.[1] ?? [];
    const to = value === '{' ? closingOf(code, from) : end;
    if (to === null) continue;
    const parts =
      value === '{' ? partsIn(code, { from: from + 1, to: to - 1 }, renames) : { edits: [], isUnclear: true };
    found.push({ at, patternTo: to, ...parts });
  }
  return found;
}

/** Returns the changes of the names that a pattern takes out of `steps`. */
function partsIn(
  code: string,
  { from, to }: { readonly from: number; readonly to: number },
  renames: Renames,
): Pick<Reference, 'edits' | 'isUnclear'> {
  const edits: Edit[] = [];
  let isUnclear = false;
  for (const [start, part] of partsAt(code, from, to)) {
    const match = PART.exec(part);
    isUnclear ||= /^\s*(\.\.\.|\[)/.test(part);
    const [, , quoted, plain, after] = match ?? [];
    const name = quoted ?? plain ?? '';
    const own = renames.get(name);
    const place = match?.indices?.[quoted === undefined ? 3 : 2];
    if (own === undefined || place === undefined) continue;
    const text = quoted !== undefined || after === ':' ? own : `${own}: ${name}`;
    edits.push({ from: start + place[0], to: start + place[1], text });
  }
  return { edits, isUnclear };
}

/** Yields what stands between the commas of a pattern, each with its place. */
function* partsAt(code: string, from: number, to: number): Generator<readonly [number, string]> {
  let [depth, start] = [0, from];
  for (let i = from; i < to; i++) {
    const char = code[i] ?? '';
    if ('{[('.includes(char)) depth++;
    else if ('}])'.includes(char)) depth--;
    if (char !== ',' || depth > 0) continue;
    yield [start, code.slice(start, i)];
    start = i + 1;
  }
  yield [start, code.slice(start, to)];
}

/** Returns the place of the brace that the brace at `end` closes. */
function openingOf(code: string, end: number): number | null {
  for (let [i, depth] = [end, 0]; i >= 0; i--) {
    if (code[i] === '}') depth++;
    else if (code[i] === '{' && --depth === 0) return i;
  }
  return null;
}

/** Returns the place behind the brace that closes the brace at `begin`. */
function closingOf(code: string, begin: number): number | null {
  for (let [i, depth] = [begin, 0]; i < code.length; i++) {
    if (code[i] === '{') depth++;
    else if (code[i] === '}' && --depth === 0) return i + 1;
  }
  return null;
}

function declarationsIn(code: string): Reference[] {
  return [...code.matchAll(DECLARED)].map(({ indices }) => ({
    at: (indices?.[1] ?? indices?.[2])?.[0] ?? 0,
    edits: [],
  }));
}

/** Returns the references that are code, and no texts or comments. */
async function inCode(code: string, references: readonly Reference[]): Promise<Reference[]> {
  const found: Reference[] = [];
  for (const reference of references) {
    const { at, patternTo } = reference;
    if (await parses(withEdits(code, [{ from: at, to: at, text: SIGN }]))) continue;
    const isLiteral =
      patternTo !== undefined && (await parses(withEdits(code, [{ from: at, to: patternTo, text: 'steps: 0' }])));
    if (!isLiteral) found.push(reference);
  }
  return found;
}

/** Returns whether no name of a step follows, and it is no name of a member itself. */
function isWhole(code: string, at: number): boolean {
  return (
    ![MEMBER, IN_BRACKETS].some((form) => startsAt(form, code, at)) && !/^steps\s*:/.test(code.slice(at, at + 100))
  );
}

function startsAt(form: RegExp, code: string, at: number): boolean {
  const sticky = new RegExp(form.source, 'uy');
  sticky.lastIndex = at;
  return sticky.test(code);
}

/** Returns whether it is code, and the variable is read there: where it is declared, or is a member's name, no number can stand. */
async function isValue(code: string, at: number): Promise<boolean> {
  const isText = await parses(withEdits(code, [{ from: at, to: at, text: SIGN }]));
  return !isText && (await parses(withEdits(code, [{ from: at, to: at + 'steps'.length, text: '0' }])));
}

function withEdits(code: string, edits: readonly Edit[]): string {
  const ordered = [...edits].sort((a, b) => b.from - a.from);
  return ordered.reduce((text, { from, to, text: own }) => text.slice(0, from) + own + text.slice(to), code);
}

async function parses(code: string): Promise<boolean> {
  const { transform } = await import('esbuild');
  return transform(code, { loader: 'ts', logLevel: 'silent' }).then(
    () => true,
    (error: unknown) => {
      if (!Array.isArray((error as { errors?: unknown }).errors)) throw error;
      return false;
    },
  );
}
