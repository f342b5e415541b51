// Cursors of claims: each claim begins behind the listener that the last one served last, so small claims are fair, too.

/** The listener that the last claim served last. */
export interface ClaimCursor {
  readonly listenerId: string;
  readonly ownerId: string;
}

export interface ClaimCursors {
  runs: ClaimCursor;
  deliveries: ClaimCursor;
}

export const FIRST_CURSOR: ClaimCursor = { listenerId: '', ownerId: '' };

/** Returns the items behind the cursor first, then the others. Ids are compared as in the database, byte by byte. */
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
