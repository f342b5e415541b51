// Where claims go on: each begins behind the listener that the last one served last.

/** Where the last claim ended: the next one begins behind it, so that small claims are in turn too. */
export interface ClaimCursor {
  readonly listenerId: string;
  readonly ownerId: string;
}

export interface ClaimCursors {
  runs: ClaimCursor;
  deliveries: ClaimCursor;
}

export const FIRST_CURSOR: ClaimCursor = { listenerId: '', ownerId: '' };

/** Those behind the last one served first, and around to it; ids are compared as the database does, byte by byte. */
export function behindCursor<T>(found: readonly T[], last: ClaimCursor, of: (item: T) => ClaimCursor): T[] {
  const keyOf = ({ listenerId, ownerId }: ClaimCursor): string => `${listenerId} ${ownerId}`;
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
