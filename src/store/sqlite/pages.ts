// Pages: newest first, exclusive cursors. One builder for every list, so that they all walk alike.

import type { Page, PageQuery } from '../contract/records.ts';
import type { Connection, Row, Value } from './database.ts';

export interface Listing {
  /** e.g. `runs JOIN emissions USING (entry)`. */
  readonly from: string;
  readonly columns: string;
  /** Column that the cursor compares and the list is ordered by. */
  readonly key: string;
  /** Conditions joined by AND, with their values in order. */
  readonly where: readonly string[];
  readonly values: readonly Value[];
  /** Count no further than this. */
  readonly countUpTo: number;
  /** A smaller select for counting: what `from` would be without joins. */
  readonly countFrom?: string;
}

export function readPage<T>(
  reader: Connection,
  listing: Listing,
  query: { page: PageQuery<Value>; map: (row: Row) => T },
): Page<T> {
  const { page, map } = query;
  const matching = listing.where.join(' AND ');
  const count = reader.get(
    `SELECT count(*) AS n FROM (SELECT 1 FROM ${listing.countFrom ?? listing.from} WHERE ${matching} LIMIT ${listing.countUpTo})`,
    ...listing.values,
  );
  const where = [...listing.where];
  const values = [...listing.values];
  if (page.after !== undefined) {
    where.push(`${listing.key} < ?`);
    values.push(page.after);
  }
  if (page.before !== undefined) {
    where.push(`${listing.key} > ?`);
    values.push(page.before);
  }
  // Before a cursor, the page is the records next to it, so it is read towards newer ones and turned round.
  const isBackwards = page.before !== undefined && page.after === undefined;
  const rows = reader.all(
    `SELECT ${listing.columns} FROM ${listing.from} WHERE ${where.join(' AND ')}
      ORDER BY ${listing.key} ${isBackwards ? 'ASC' : 'DESC'} LIMIT ?`,
    ...values,
    page.limit,
  );
  if (isBackwards) rows.reverse();
  return { totalCount: count?.n as number, items: rows.map(map) };
}
