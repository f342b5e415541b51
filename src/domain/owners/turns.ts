// Whose turn it is among owners that wait for the same few places: that of the owner with the fewest under way, so that one with
// very many holds up no other for longer than one task takes.

interface Owned {
  readonly ownerId: string;
}

/**
 * Returns the first of `waiting` whose owner has the fewest under way. Undefined: none waits, or no owner has fewer than `below`.
 */
export function nextInTurn<T extends Owned>(
  waiting: Iterable<T>,
  underWayOf: (ownerId: string) => number,
  below = Number.POSITIVE_INFINITY,
): T | undefined {
  let first: T | undefined;
  let fewest = below;
  for (const one of waiting) {
    const count = underWayOf(one.ownerId);
    if (count >= fewest) continue;
    [first, fewest] = [one, count];
    if (count === 0) break;
  }
  return first;
}

/** Returns how many are of the owner. */
export function countOf(all: Iterable<Owned>, ownerId: string): number {
  let count = 0;
  for (const one of all) if (one.ownerId === ownerId) count++;
  return count;
}
