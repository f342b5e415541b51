// Where claims go on: each begins behind the listener that the last one served last.

/** Where the last claim ended: the next one begins behind it, so that small claims are in turn too. */
export interface Turn {
  readonly listenerId: string;
  readonly ownerId: string;
}

export interface Turns {
  runs: Turn;
  deliveries: Turn;
}

export const FIRST_TURN: Turn = { listenerId: '', ownerId: '' };

/** Those behind the last one served first, and around to it; ids are compared as the database does, byte by byte. */
export function inTurn<T>(found: readonly T[], last: Turn, of: (item: T) => Turn): T[] {
  const keyOf = ({ listenerId, ownerId }: Turn): string => `${listenerId} ${ownerId}`;
  const lastKey = keyOf(last);
  const placeOf = (item: T): string => {
    const key = keyOf(of(item));
    return `${key > lastKey ? 0 : 1}${key}`;
  };
  return found
    .map((item) => ({ item, place: placeOf(item) }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ item }) => item);
}
