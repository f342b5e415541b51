// Pages: newest first, exclusive cursors. One builder for every list, so that they all walk alike.

import type { Page, PageQuery } from '../contract/records.ts';
import type { Pool } from './connection/pool.ts';
import type { Row, Value } from './connection/values.ts';

export interface Listing {
  /** e.g. `all_runs AS r JOIN emissions AS e ON e.entry = r.entry`. */
  readonly from: string;
  readonly columns: string;
  /** Column that the cursor compares and the list is ordered by. */
  readonly key: string;
  /**
   * A column that has one value throughout the list and stands before `key` in an index, and the place of that value.
   * Asked for as a range and named in the order, it leaves Postgres no other way than that index: an equal sign would let
   * it read the whole table backwards instead, in the hope of meeting the list's records soon.
   */
  readonly within?: { readonly column: string; readonly place: string };
  /** Conditions joined by AND, with `$1` and so on for their values. */
  readonly where: readonly string[];
  readonly values: readonly Value[];
  /** Count no further than this. */
  readonly countUpTo: number;
  /** A smaller select for counting: what `from` would be without joins. */
  readonly countFrom?: string;
}

interface PageOf<T> {
  readonly page: PageQuery<Value>;
  readonly map: (row: Row) => T;
}

/** Page and count are of one moment: a caller who sees a count also sees what was counted. */
export async function readPage<T>(pool: Pool, listing: Listing, { page, map }: PageOf<T>): Promise<Page<T>> {
  const { from, countFrom = from, values } = listing;
  // Before a cursor, the page is the records next to it, so it is read towards newer ones and turned round.
  const isBackwards = page.before !== undefined && page.after === undefined;
  const direction = isBackwards ? 'ASC' : 'DESC';
  const key = `${listing.key} ${direction}`;
  const order = listing.within ? `${listing.within.column} ${direction}, ${key}` : key;
  const all = [...values];
  // A nested loop over the one row of the count is the only way to join without a condition, and it keeps the order.
  const rows = await pool.planned(
    `SELECT c.total_count, p.* FROM (
        SELECT count(*) AS total_count FROM (SELECT 1 FROM ${countFrom} WHERE ${conditions(listing, {}, [])}
          ORDER BY ${order} LIMIT ${listing.countUpTo}) AS matching) AS c
      LEFT JOIN (SELECT true AS is_there, ${listing.columns} FROM ${from} WHERE ${conditions(listing, page, all)}
        ORDER BY ${order} LIMIT $${all.push(page.limit)}) AS p ON true`,
    ...all,
  );
  const items = rows.filter(({ is_there: isThere }) => isThere === true);
  if (isBackwards) items.reverse();
  return { totalCount: rows[0]?.total_count as number, items: items.map(map) };
}

/** The cursors are added to `values`. They are bounds in the index, so that no page costs more than the first. */
function conditions(listing: Listing, page: Omit<PageQuery<Value>, 'limit'>, values: Value[]): string {
  const { key, within } = listing;
  const bound = (sign: '<' | '>', cursor: Value | undefined): string[] => {
    if (cursor === undefined) return within ? [`${within.column} ${sign}= ${within.place}`] : [];
    const place = `$${values.push(cursor)}`;
    return [within ? `(${within.column}, ${key}) ${sign} (${within.place}, ${place})` : `${key} ${sign} ${place}`];
  };
  return [...bound('<', page.after), ...bound('>', page.before), ...listing.where].join(' AND ');
}
