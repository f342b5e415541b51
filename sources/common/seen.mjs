// What a source has seen, kept in its db. Ids are kept as short hashes, since some are long addresses.

import { createHash } from 'node:crypto';

const KEY = 'seen';
const MIN_KEPT = 2000;
const HASH_CHARS = 16;

/**
 * Those of `items` that were not there before, in their order; each id once. From now on they were.
 *
 * All ids of `items` are kept, and of those that are there no more the last ones, so that what goes and comes back is not
 * new. `from`: where they come from; another place starts from the beginning, and `isFirst` says that it does.
 */
export function takeNew(db, { from, items, idOf }) {
  const before = db.get(KEY);
  const isFirst = before?.from !== from;
  const known = new Set(isFirst ? [] : before.ids);
  const now = new Map();
  for (const item of items) {
    const hash = hashOf(idOf(item));
    if (!now.has(hash)) now.set(hash, item);
  }
  const fresh = [...now].filter(([hash]) => !known.has(hash));
  const gone = [...known].filter((hash) => !now.has(hash));
  const room = Math.max(MIN_KEPT, 2 * now.size) - now.size;
  if (isFirst || fresh.length > 0) {
    // What comes first is the newest in most lists, and the last to be forgotten.
    db.set(KEY, { from, ids: [...gone.slice(-room), ...[...now.keys()].reverse()] });
  }
  return { isFirst, fresh: fresh.map(([, item]) => item) };
}

function hashOf(id) {
  return createHash('sha256').update(String(id)).digest('base64url').slice(0, HASH_CHARS);
}
