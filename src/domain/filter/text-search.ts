// Looks for a part of a text in a time that grows with the text alone, whatever the two are.

/**
 * V8 looks for parts up to this length in such a time. For longer ones it looks at the whole part again at each place: for
 * one of 8,000 characters, in half a megabyte of a single letter, 1.4 s.
 */
const SHORT_CHARS = 250;

/** Returns where the part begins in the text, at `from` or behind it; -1: nowhere. */
export function placeOf(part: string, text: string, from: number): number {
  if (part.length <= SHORT_CHARS) return text.indexOf(part, from);
  // Knuth, Morris and Pratt: behind a mismatch, what was read is not read again.
  const borders = bordersOf(part);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const char = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== char) matched = borders[matched - 1] as number;
    if (part.charCodeAt(matched) === char) matched++;
    if (matched === part.length) return at - part.length + 1;
  }
  return -1;
}

/** Returns for each place of the part how many characters before and at it are its beginning as well. */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  for (let at = 1, matched = 0; at < part.length; at++) {
    const char = part.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== char) matched = borders[matched - 1] as number;
    if (part.charCodeAt(matched) === char) matched++;
    borders[at] = matched;
  }
  return borders;
}
