// Judges names of members by rules such as `password` and `*_token`.

import { REDACTION_LIMITS } from './limits.ts';

export type IsHiddenKey = (name: string) => boolean;

/** How many names are remembered: events of one kind have the same ones. */
const REMEMBERED = 1000;

export function keyJudge(rules: readonly string[]): IsHiddenKey {
  const globs = rules.map(plain);
  const known = new Map<string, boolean>();
  return (name) => {
    if (globs.length === 0) return false;
    const before = known.get(name);
    if (before !== undefined) return before;
    // What is longer than any rule can only match by a star: its beginning decides.
    const shown = plain(name.slice(0, REDACTION_LIMITS.redactedNameChars));
    const isHidden = globs.some((glob) => matches(shown, glob));
    if (known.size >= REMEMBERED) known.clear();
    known.set(name, isHidden);
    return isHidden;
  };
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}

/**
 * Returns whether a name matches a glob, by the usual walk with one place to come back to: never more steps than both lengths
 * multiplied.
 */
function matches(name: string, glob: string): boolean {
  let [n, g, star, from] = [0, 0, -1, 0];
  while (n < name.length) {
    if (g < glob.length && glob[g] === '*') {
      star = g++;
      from = n;
    } else if (g < glob.length && glob[g] === name[n]) {
      n++;
      g++;
    } else if (star >= 0) {
      g = star + 1;
      n = ++from;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}
