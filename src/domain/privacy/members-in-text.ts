// Finds members in text that is no JSON: `password=hunter2` of queries and forms, `"password": "hunter2"` of printed objects,
// also with quotes as HTML writes them, and `Authorization: Bearer …` of headers. Each search is linear: no repetition stands
// within another one, and names are bounded.

import { endOfValue } from './json-text.ts';
import type { IsHiddenKey } from './key-rules.ts';
import { HIDDEN } from './rules.ts';

const QUOTED = /(?<quote>"|'|&quot;|\\")(?<name>[^"'\\&:<>]{1,100})\k<quote>\s{0,9}:\s{0,9}/g;
const ASSIGNED = /(?<name>[A-Za-z0-9_.$%[\]-]{1,100})=/g;
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
  for (const mark of new Set([quote, "'"])) {
    if (mark === '"' || !text.startsWith(mark, from)) continue;
    const end = text.indexOf(mark, from + mark.length);
    return end < 0 ? text.length : end + mark.length;
  }
  return endOfValue(text, from);
}

function endOfAssigned(text: string, from: number): number {
  const first = text[from];
  if (first === '"' || first === "'") {
    const end = text.indexOf(first, from + 1);
    return end < 0 ? text.length : end + 1;
  }
  let at = from;
  while (at < text.length && !/[\s&;,"'<>)\]}]/.test(text[at] as string)) at++;
  return at;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
