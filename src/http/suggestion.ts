// What a message says of a name that is not known.

import { distance } from 'fastest-levenshtein';

/** A name longer than this is no slip of a name of ours, and would take long to compare. */
const COMPARED_CHARS = 64;

/** Returns which names are known, and first the one that was probably meant. */
export function knownNames(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'this request takes none';
  const meant = similarName(name, known);
  return `${meant === null ? '' : `did you mean ${meant}? `}known are ${known.join(', ')}`;
}

/**
 * Returns the name that `name` was probably meant to be: one letter in three may be wrong, or letters may have changed places;
 * null when there is none.
 */
export function similarName(name: string, known: readonly string[]): string | null {
  const letters = lettersOf(name);
  if (letters.length === 0 || letters.length > COMPARED_CHARS) return null;
  let best: string | null = null;
  let least = Math.max(1, Math.floor(letters.length / 3)) + 1;
  for (const one of known) {
    const meant = lettersOf(one);
    const wrong = sorted(letters) === sorted(meant) ? Math.min(1, distance(letters, meant)) : distance(letters, meant);
    if (wrong >= least) continue;
    best = one;
    least = wrong;
  }
  return best;
}

/** Returns the letters of a name: `eventName`, `event-name` and `event_name` are one name. */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function sorted(letters: string): string {
  return [...letters].sort().join('');
}
