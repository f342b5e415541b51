// The code of a version that failed, made of the active version and the difference of both.

/**
 * Returns the older text of a difference, whose lines have ` `, `-` or `+` before them, as the server gives them: one block around
 * all that differs. Null: the block fits several places of the newer text, or none.
 */
export function codeBefore(newer: string, difference: readonly string[]): string | null {
  const lines = newer.split('\n');
  const side = (sign: string): string[] =>
    difference.filter((line) => line[0] === ' ' || line[0] === sign).map((line) => line.slice(1));
  const [before, after] = [side('-'), side('+')];
  const places: number[] = [];
  for (let at = 0; at + after.length <= lines.length && places.length < 2; at++) {
    if (after.every((line, n) => line === lines[at + n])) places.push(at);
  }
  const [at] = places;
  if (at === undefined || places.length > 1) return null;
  return [...lines.slice(0, at), ...before, ...lines.slice(at + after.length)].join('\n');
}
