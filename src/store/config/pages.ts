// Pages of lists: newest first, exclusive cursors.

import type { Page, PageQuery } from '../contract/records.ts';
import { flag, number } from '../rows/cells.ts';
import type { Row } from '../rows/rows.ts';
import type { ConfigDatabase } from './config-database.ts';
import { joined, raw, type Sql, sql } from './sql.ts';

export interface Listing<T> {
  readonly from: Sql;
  readonly columns: Sql;
  /** Joined by AND. */
  readonly where: readonly Sql[];
  /** Counts no further than this. */
  readonly countUpTo: number;
  readonly page: PageQuery;
  readonly map: (row: Row) => T;
}

/** Reads a page in the order of ids, and how many there are, both as of one moment. */
export async function readPage<T>(database: ConfigDatabase, listing: Listing<T>): Promise<Page<T>> {
  const { from, columns, countUpTo, page, map } = listing;
  const where = joined(listing.where, ' AND ');
  const { after, before } = page;
  const cursors = [
    ...(after === undefined ? [] : [sql` AND id < ${after}`]),
    ...(before === undefined ? [] : [sql` AND id > ${before}`]),
  ];
  // Before a cursor, the page is the records next to it, so it is read towards newer ones.
  const isBackwards = before !== undefined && after === undefined;
  const direction = raw(isBackwards ? 'ASC' : 'DESC');
  const rows = await database.planned(
    sql`SELECT c.total_count, p.* FROM (
        SELECT count(*) AS total_count FROM (SELECT 1 FROM ${from} WHERE ${where} LIMIT ${countUpTo}) AS matching) AS c
      LEFT JOIN (SELECT true AS is_there, ${columns} FROM ${from} WHERE ${where}${joined(cursors, '')}
        ORDER BY id ${direction} LIMIT ${page.limit}) AS p ON true
      ORDER BY p.id DESC`,
  );
  const [first] = rows;
  const items = rows.filter((row) => row.is_there !== null && flag(row, 'is_there')).map(map);
  return { totalCount: first ? number(first, 'total_count') : 0, items };
}
