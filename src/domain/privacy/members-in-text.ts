// Finds members in text that is no JSON: `password=hunter2` of queries and forms, `"password": "hunter2"` of printed objects,
// also with quotes as HTML writes them, or escaped once more by the JSON around them, and `Authorization: Bearer …` of headers. Each
// search is linear: no repetition stands within another one, and names are bounded.

import { endOfValue } from './json-text.ts';
import type { IsHiddenKey } from './key-rules.ts';
import { HIDDEN } from './rules.ts';

const QUOTED = /(?<quote>\\{0,7}(?:"|'|&quot;|&#3[49];))(?<name>[^"'\\&:<>]{1,100})\k<quote>\s{0,9}:\s{0,9}/g;
const ASSIGNED = /(?<name>[A-Za-z0-9_.$%[\]-]{1,100})=/g;
const QUOTE = /\\{0,7}(?:"|'|&quot;|&#3[49];)/y;
const HEADED = /(?<name>[A-Za-z0-9_.$-]{1,100}):[ \t]{1,9}/g;

export function redactMembers(text: string, isHidden: IsHiddenKey): string {
  let shown = replaced(text, { pattern: QUOTED, isHidden, endOf: endOfQuoted });
  shown = replaced(shown, { pattern: ASSIGNED, isHidden, endOf: endOfAssigned });
  return replaced(shown, { pattern: HEADED, isHidden, endOf: endOfLine });
}

interface Search {
  readonly pattern: RegExp;
  readonly isHidden: IsHiddenKey;
  readonly endOf: (text: string, from: number, quote: string) => number;
}

function replaced(text: string, { pattern, isHidden, endOf }: Search): string {
  const parts: string[] = [];
  let copied = 0;
  for (const { 0: all, index, groups } of text.matchAll(pattern)) {
    if (index < copied || !isHidden(nameOf(groups?.name ?? ''))) continue;
    const from = index + all.length;
    const to = endOf(text, from, groups?.quote ?? '');
    if (to === from || text.startsWith(HIDDEN, from)) continue;
    parts.push(text.slice(copied, from), HIDDEN);
    copied = to;
  }
  return copied === 0 ? text : parts.join('') + text.slice(copied);
}

/** Returns the name of a member: the last part of `user.password` and of `user[password]`. */
function nameOf(given: string): string {
  let name = given;
  try {
    name = decodeURIComponent(given);
  } catch {}
  return /([^.[\]]*)\]?$/.exec(name)?.[1] ?? name;
}

function endOfQuoted(text: string, from: number, quote: string): number {
  const mark = quoteAt(text, from);
  // The string of JSON, or of another quotation within it, is quoted as the name was, or as programs print it.
  return mark !== '' && (mark === quote || mark === "'") ? endOfString(text, from, mark) : endOfValue(text, from);
}

function endOfAssigned(text: string, from: number): number {
  const mark = quoteAt(text, from);
  if (mark !== '') return endOfString(text, from, mark);
  let at = from;
  while (at < text.length && !/[\s&;,"'<>)\]}]/.test(text[at] as string)) at++;
  return at;
}

/** Returns the quotation mark that begins there, with the backslashes before it; empty: none does. */
function quoteAt(text: string, from: number): string {
  QUOTE.lastIndex = from;
  return QUOTE.exec(text)?.[0] ?? '';
}

/**
 * Returns the end of a string, behind its closing mark. A quotation mark within the string has more backslashes than the opening
 * mark: where that has n, the closing one has n, and 2 (n + 1) more for each backslash that the string ends with.
 */
function endOfString(text: string, from: number, mark: string): number {
  const quote = mark.replace(/^\\+/, '');
  const escapes = mark.length - quote.length;
  for (let at = from + mark.length; ; ) {
    const found = text.indexOf(quote, at);
    if (found < 0) return text.length;
    let before = found;
    while (before > from + mark.length && text[before - 1] === '\\') before--;
    if ((found - before) % (2 * (escapes + 1)) === escapes) return found + quote.length;
    at = found + quote.length;
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
