// The original event as text, and what is made of the text: nothing here may change a byte of it on its way to a replay.

import type { ErrorFixture } from '../../../src/client/client.ts';

export interface EventText {
  readonly text: string;
  readonly bytes: number;
  /** The bytes are no UTF-8: `text` is their base64. */
  readonly isBinary: boolean;
}

export function eventTextOf({ original_event_text: text, original_event_base64: base64 }: ErrorFixture): EventText {
  if (text !== undefined) return { text, bytes: new TextEncoder().encode(text).length, isBinary: false };
  const given = base64 ?? '';
  return { text: given, bytes: Math.floor((given.replace(/=+$/, '').length * 3) / 4), isBinary: true };
}

/** A number as it was written, where JavaScript would show another one: 12345678901234567890, 1e400, 1.0. */
export class WrittenNumber {
  readonly written: string;
  constructor(written: string) {
    this.written = written;
  }
}

type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;

const keepNumbers: Reviver = (_key, value, context) => {
  const source = context?.source;
  return typeof value === 'number' && source !== undefined && String(value) !== source
    ? new WrittenNumber(source)
    : value;
};

/** Reads JSON, with numbers as they were written. Throws `SyntaxError`. */
export function parseNumbers(text: string): unknown {
  return JSON.parse(text, keepNumbers);
}

/** Returns undefined for what is no JSON. */
export function parseEvent(text: string): { value: unknown } | undefined {
  try {
    return { value: parseNumbers(text) };
  } catch {
    return undefined;
  }
}

/** Returns why a text cannot be an event; null: it can. */
export function eventFault(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns the text with line breaks, for editing, if that changes nothing but space; else as it is. */
export function readable(text: string): string {
  if (text.includes('\n') || text.length > 200_000) return text;
  return indented(text) ?? text;
}

/** Puts space between the tokens, and leaves every token as it is: numbers, escapes, repeated members. */
function indented(text: string): string | null {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g);
  if (tokens === null || eventFault(text) !== null) return null;
  const parts: string[] = [];
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(depth)}`;
  tokens.forEach((token, at) => {
    const isEmpty = /^[}\]]$/.test(tokens[at + 1] ?? '');
    if (token === '{' || token === '[') {
      depth++;
      parts.push(token, isEmpty ? '' : line());
    } else if (token === '}' || token === ']') {
      depth--;
      parts.push(/^[{[]$/.test(tokens[at - 1] ?? '') ? '' : line(), token);
    } else if (token === ',') parts.push(token, line());
    else parts.push(token, token === ':' ? ' ' : '');
  });
  return parts.join('');
}

export interface DiffLine {
  readonly kind: 'add' | 'cut' | 'same';
  readonly text: string;
}

const MAX_DIFF_LINES = 2000;

/** Returns the lines that differ, each with two lines around it; null when there are too many lines to compare. */
export function diffLines(before: string, after: string): DiffLine[] | null {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const cut = a.slice(start, a.length - end);
  const add = b.slice(start, b.length - end);
  if (cut.length + add.length > MAX_DIFF_LINES) return null;
  if (cut.length + add.length === 0) return [];
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...same(a.slice(Math.max(0, start - 2), start)),
    ...cut.map((text): DiffLine => ({ kind: 'cut', text })),
    ...add.map((text): DiffLine => ({ kind: 'add', text })),
    ...same(a.slice(a.length - end, a.length - end + 2)),
  ];
}

/** JSON text in which numbers are as they came. */
export function written(value: unknown): string {
  if (value instanceof WrittenNumber) return value.written;
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${written(member)}`)
    .join(',')}}`;
}
