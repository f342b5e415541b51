// Which rows are new, when rows may appear behind those that have been read.
//
// Values of a column that increases are given before they are committed: the row 7 may be there a while before the row 6.
// So each poll reads again from where it was `lookbackMs` ago, the floor, and remembers by hashes what it has read of
// that. (Rejected: to wait for the oldest transaction, by xmin. A transaction may draw its number after another has drawn
// a higher one and yet be the older of the two, and views have no xmin.)
//
// `marks` say when everything up to a value had been read; they become floors. Values are Postgres's text, which has no
// order here: Postgres says which come behind which.

import { createHash } from 'node:crypto';

/** Rows that are remembered. When more come within the lookback, it is cut short. */
export const MAX_SEEN = 5000;
const MAX_MARKS = 100;
const HASH_CHARS = 16;

export function hashOf({ value, key }) {
  return createHash('sha256')
    .update(JSON.stringify([value, key]))
    .digest('base64url')
    .slice(0, HASH_CHARS);
}

/**
 * At the beginning: what is there is old. `newest`: the rows with the highest values, highest last, and whether there are
 * others below them.
 */
export function beginning({ from, newest, hasMore, nowMs }) {
  const top = newest.at(-1)?.value ?? null;
  return {
    from,
    top,
    floor: hasMore ? [newest[0].value, newest[0].key] : null,
    marks: top === null ? [] : [[nowMs, top]],
    seen: newest.map(hashOf),
  };
}

/** From which value on rows are remembered after the next poll; null: from the floor on, as before. */
export function nextFloor({ marks }, { lookbackMs, nowMs }) {
  return marks.findLast(([ms]) => ms <= nowMs - lookbackMs)?.[1] ?? null;
}

/**
 * After a poll. `read`: rows from the floor on, in their order, as far as they were read and emitted; `isKept`: not below
 * `nextFloor`; `isTop`: not below `top`. `isWhole`: there are no others.
 */
export function after(state, { read, isWhole, lookbackMs, nowMs, maxSeen = MAX_SEEN }) {
  const last = read.at(-1);
  // Not over rows that are still to be read.
  const raised = isWhole || last?.isKept ? nextFloor(state, { lookbackMs, nowMs }) : null;
  const hashes = new Set(read.map(hashOf));
  const unread = isWhole ? [] : state.seen.filter((hash) => !hashes.has(hash));
  const kept = raised === null ? read : read.filter(({ isKept }) => isKept);
  const room = Math.max(1, maxSeen - unread.length);
  const isCut = kept.length > room;
  const remembered = isCut ? kept.slice(kept.length - room) : kept;
  const top = last?.isTop ? last.value : state.top;
  const next = { from: state.from, top, floor: raised === null ? state.floor : [raised, ''], marks: state.marks };
  if (raised !== null) next.marks = state.marks.slice(state.marks.findLastIndex(([, value]) => value === raised));
  if (isCut) {
    next.floor = [remembered[0].value, remembered[0].key];
    // Those before it would lower it again.
    next.marks = [];
  }
  const isDue = nowMs - (next.marks.at(-1)?.[0] ?? Number.NEGATIVE_INFINITY) >= lookbackMs / MAX_MARKS;
  if (last?.isTop && isDue) next.marks = [...next.marks, [nowMs, top]];
  return { state: { ...next, seen: [...remembered.map(hashOf), ...unread] }, isCut };
}
