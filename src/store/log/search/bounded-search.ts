// A search that reads along an index and judges record after record, within bounds: it stops when its page is full, when it has
// looked at LIMITS.searchedRecords records or read LIMITS.searchedBytes of them, and says where to go on. The bounds are counts,
// not times, so that both databases stop at the same record.
//
// Records are judged here and not in SQL: what counts as the same letter, and what is literal, is then one rule for both
// databases.

import { LIMITS } from '../../../domain/limits.ts';
import type { PageQuery } from '../../contract/records.ts';
import type { SearchPage } from '../../contract/search.ts';

/** A half-open range of numbers: records `from` that one on, and before `to`. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

export interface Search<Head, Item> {
  readonly page: PageQuery<number>;
  readonly range: NumberRange;
  /** False: every record of the range matches, so no more are read than the page has. */
  readonly isFiltered: boolean;
  /** Reads the next heads in the range: newest first, or oldest first. */
  read(range: NumberRange, order: { readonly isDescending: boolean; readonly limit: number }): Promise<readonly Head[]>;
  numberOf(head: Head): number;
  /** Judges by what is read already. */
  fits(head: Head): boolean;
  /** Returns the bytes that `judge` reads for this record. */
  bytesOf(head: Head): number;
  /** Reads the rest, and returns what matches, in the same order. */
  judge(heads: readonly Head[]): Promise<readonly { readonly number: number; readonly item: Item }[]>;
}

/** Searches within bounds of records and bytes. The total is counted elsewhere: it does not depend on the cursor. */
export async function searchWithin<Head, Item>(
  search: Search<Head, Item>,
): Promise<Omit<SearchPage<Item>, 'totalCount'>> {
  const { page, isFiltered } = search;
  // A page before a cursor has the records next to it, so it is read towards newer ones.
  const isDescending = page.before === undefined || page.after !== undefined;
  let range = rangeOf(search);
  const found: Item[] = [];
  let [lookedAt, readBytes] = [0, 0];
  const answer = (next: number | null) => ({ items: isDescending ? found : found.reverse(), next, lookedAt });
  while (range.from < range.to) {
    const wanted = isFiltered ? LIMITS.searchStepRecords : page.limit;
    const limit = Math.min(wanted, LIMITS.searchedRecords - lookedAt);
    const heads = await search.read(range, { isDescending, limit });
    for (const part of partsOf(search, heads)) {
      const last = search.numberOf(part.heads.at(-1) as Head);
      for (const { number, item } of await judged(search, part.heads)) {
        found.push(item);
        if (found.length < page.limit) continue;
        // What stands behind the last record of a full page counts as not looked at: the next page begins there.
        lookedAt += part.heads.findIndex((head) => search.numberOf(head) === number) + 1;
        return answer(number);
      }
      lookedAt += part.heads.length;
      readBytes += part.bytes;
      range = isDescending ? { ...range, to: last } : { ...range, from: last + 1 };
      if (readBytes >= LIMITS.searchedBytes) return answer(last);
      // SQLite's reads are in the server's own thread: whatever came meanwhile goes first.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (heads.length < limit) return answer(null);
    if (lookedAt >= LIMITS.searchedRecords) return answer(isDescending ? range.to : range.from - 1);
  }
  return answer(null);
}

/**
 * Returns those that are meant. `isSlow`: the test of one alone may take long, as what an owner's rules hide does, so whatever came
 * meanwhile goes between two of them.
 */
export async function filtered<T>(all: readonly T[], isSlow: boolean, isMeant: (one: T) => boolean): Promise<T[]> {
  const meant: T[] = [];
  for (const one of all) {
    if (isMeant(one)) meant.push(one);
    if (isSlow) await new Promise((resolve) => setImmediate(resolve));
  }
  return meant;
}

function rangeOf<Head, Item>({ page, range }: Search<Head, Item>): NumberRange {
  const { after = Infinity, before = -1 } = page;
  return { from: Math.max(range.from, before + 1), to: Math.min(range.to, after) };
}

async function judged<Head, Item>(search: Search<Head, Item>, heads: readonly Head[]) {
  const fitting = heads.filter((head) => search.fits(head));
  return fitting.length === 0 ? [] : search.judge(fitting);
}

/** Cuts heads into parts of which little is read in one go. One record alone may be larger. */
function* partsOf<Head, Item>(
  search: Search<Head, Item>,
  heads: readonly Head[],
): Generator<{ readonly heads: readonly Head[]; readonly bytes: number }> {
  let [part, bytes, fitting]: [Head[], number, number] = [[], 0, 0];
  for (const head of heads) {
    const fits = search.fits(head);
    const more = fits ? search.bytesOf(head) : 0;
    const isFull = bytes + more > LIMITS.searchStepBytes || fitting === LIMITS.pageRecords;
    if (part.length > 0 && fits && isFull) {
      yield { heads: part, bytes };
      [part, bytes, fitting] = [[], 0, 0];
    }
    part.push(head);
    bytes += more;
    fitting += fits ? 1 : 0;
  }
  if (part.length > 0) yield { heads: part, bytes };
}
