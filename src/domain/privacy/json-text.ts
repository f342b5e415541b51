// Walks through JSON text and replaces values, names and numbers in it. Everything else stays as it is, byte for byte: nothing is
// parsed and written again.

import { HIDDEN } from './rules.ts';

export interface JsonRedaction {
  /** Returns whether the value of a member with this name is hidden, whatever it is. */
  hidesKey(name: string): boolean;
  /** Returns what is shown of a string, or of a name. */
  string(value: string): string;
  /** Returns what a number becomes, by its text, in the same way. */
  number(text: string): string;
}

const HIDDEN_JSON = JSON.stringify(HIDDEN);
const SPACE = /[ \t\r\n]/;
const LITERAL = /[^,\]}\s]/;

/** Redacts JSON text. `json`: valid. Of invalid text, whatever looks like a string is judged, and the rest stays. */
export function redactJson(json: string, redaction: JsonRedaction): string {
  const parts: string[] = [];
  const open: boolean[] = [];
  let [at, copied] = [0, 0];
  let isName = false;
  const put = (from: number, to: number, shown: string): void => {
    parts.push(json.slice(copied, from), shown);
    copied = to;
  };
  while (at < json.length) {
    const char = json[at] as string;
    if (char === '{' || char === '[') {
      open.push(char === '{');
      isName = char === '{';
      at++;
    } else if (char === '}' || char === ']') {
      open.pop();
      isName = false;
      at++;
    } else if (char === ',') {
      isName = open.at(-1) === true;
      at++;
    } else if (char === '"') {
      const end = endOfString(json, at);
      const token = json.slice(at, end);
      const value = decoded(token);
      const hides = isName && redaction.hidesKey(value);
      const shown = redaction.string(value);
      if (shown !== value) put(at, end, JSON.stringify(shown));
      at = end;
      if (hides) {
        const from = beginOfValue(json, end);
        at = endOfValue(json, from);
        put(from, at, HIDDEN_JSON);
      }
      isName = false;
    } else if (char === '-' || (char >= '0' && char <= '9')) {
      const end = endOfLiteral(json, at);
      const token = json.slice(at, end);
      if (redaction.number(token) !== token) put(at, end, HIDDEN_JSON);
      at = end;
    } else at++;
  }
  if (copied === 0) return json;
  parts.push(json.slice(copied));
  return parts.join('');
}

/** Returns the end of the value that begins there, behind its last character. */
export function endOfValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return endOfString(text, from);
  if (first !== '{' && first !== '[') return endOfLiteral(text, from);
  let depth = 0;
  for (let at = from; at < text.length; ) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (char === '{' || char === '[') depth++;
    else if (char === '}' || char === ']') depth--;
    at++;
    if (depth === 0) return at;
  }
  return text.length;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let before = quote - 1;
    while (before > from && text[before] === '\\') before--;
    if ((quote - before) % 2 === 1) return quote + 1;
    at = quote + 1;
  }
}

function endOfLiteral(text: string, from: number): number {
  let at = from;
  while (at < text.length && LITERAL.test(text[at] as string)) at++;
  return at;
}

function beginOfValue(text: string, from: number): number {
  let at = from;
  while (at < text.length && (SPACE.test(text[at] as string) || text[at] === ':')) at++;
  return at;
}

function decoded(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return JSON.parse(token) as string;
  } catch {
    return token.slice(1, -1);
  }
}
