// Measures how deep JSON is nested, from its text, at both ends of the pipe. Programs parse and write JSON by
// recursion, which deeper nesting would exhaust.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENERS = [0x5b, 0x7b];
const CLOSERS = [0x5d, 0x7d];

/**
 * Returns whether JSON text has more than `levels` arrays and objects within each other. Texts too short for that are
 * not scanned. Measured with 6 MB: 0.1 ms for one string, 15 ms for records, 50 ms for nothing but escaped quotes.
 */
export function isDeeperThan(text: string, levels: number): boolean {
  if (text.length < 2 * (levels + 1)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = stringEnd(text, at);
    else if (char === OPENERS[0] || char === OPENERS[1]) {
      if (++depth > levels) return true;
    } else if (char === CLOSERS[0] || char === CLOSERS[1]) depth--;
  }
  return false;
}

/** Returns the index of the closing quote of the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

/** Returns whether an odd number of backslashes precedes the index. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}
