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
  /**
   * A column that has one value throughout the list and stands before the id in an index. Asked for as a range and named
   * in the order, it leaves Postgres no other way than that index: an equal sign would let it read the whole table
   * backwards instead, in the hope of meeting the list's records soon.
   */
  readonly within?: { readonly column: Sql; readonly value: string };
  /** Counts no further than this. */
  readonly countUpTo: number;
  readonly page: PageQuery;
  readonly map: (row: Row) => T;
}

/** Reads a page in the order of ids, and how many there are, both as of one moment. */
export async function readPage<T>(database: ConfigDatabase, listing: Listing<T>): Promise<Page<T>> {
  const { from, columns, countUpTo, page, map, within } = listing;
  const { after, before } = page;
  // Before a cursor, the page is the records next to it, so it is read towards newer ones.
  const direction = raw(before !== undefined && after === undefined ? 'ASC' : 'DESC');
  const order = within ? sql`${within.column} ${direction}, id ${direction}` : sql`id ${direction}`;
  const matching = joined([...listing.where, ...rangeOf(within, {})], ' AND ');
  const onPage = joined([...listing.where, ...rangeOf(within, page), ...cursorsOf(page)], ' AND ');
  const rows = await database.planned(
    sql`SELECT c.total_count, p.* FROM (SELECT count(*) AS total_count FROM (
        SELECT 1 FROM ${from} WHERE ${matching} ORDER BY ${order} LIMIT ${countUpTo}) AS matching) AS c
      LEFT JOIN (SELECT true AS is_there, ${columns} FROM ${from} WHERE ${onPage}
        ORDER BY ${order} LIMIT ${page.limit}) AS p ON true
      ORDER BY p.id DESC`,
  );
  const [first] = rows;
  const items = rows.filter((row) => row.is_there !== null && flag(row, 'is_there')).map(map);
  return { totalCount: first ? number(first, 'total_count') : 0, items };
}

type Cursors = Omit<PageQuery, 'limit'>;

function cursorsOf({ after, before }: Cursors): Sql[] {
  return [...(after === undefined ? [] : [sql`id < ${after}`]), ...(before === undefined ? [] : [sql`id > ${before}`])];
}

/** The cursors as bounds in the index: no page costs more than the first. */
function rangeOf(within: Listing<unknown>['within'], { after, before }: Cursors): Sql[] {
  if (!within) return [];
  const { column, value } = within;
  return [
    after === undefined ? sql`${column} <= ${value}` : sql`(${column}, id) < (${value}, ${after})`,
    before === undefined ? sql`${column} >= ${value}` : sql`(${column}, id) > (${value}, ${before})`,
  ];
}
