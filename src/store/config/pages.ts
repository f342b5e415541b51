// Pages of lists: newest first, exclusive cursors.

import type { Page, PageQuery } from '../contract/records.ts';
import { number } from '../rows/cells.ts';
import type { Row } from '../rows/rows.ts';
import type { ConfigDatabase } from './config-database.ts';
import { either, joined, raw, type Sql, sql } from './sql.ts';

export interface Listing<T, Cursor extends string | number = string> {
  readonly from: Sql;
  /** A `from` without joins, for counting. */
  readonly countFrom?: Sql;
  readonly columns: Sql;
  /** The column that cursors compare and the list is ordered by. Default: `id`. */
  readonly key?: Sql;
  /** Joined by AND. */
  readonly where: readonly Sql[];
  /**
   * A column that has one value throughout the list and stands before the key in an index. Written as a range and named in
   * the order, it makes Postgres use that index. With an equal sign, Postgres may read the whole table backwards instead. Of
   * such a pair with the row's own number, SQLite looks up the first half alone, and would step over all newer rows.
   */
  readonly within?: { readonly column: Sql; readonly value: string };
  /** Counts no further than this. */
  readonly countUpTo: number;
  readonly page: PageQuery<Cursor>;
  readonly map: (row: Row) => T;
}

/** Reads a page in the order of keys together with the total count, both as of one moment. */
export async function readPage<T, Cursor extends string | number>(
  database: Pick<ConfigDatabase, 'planned'>,
  listing: Listing<T, Cursor>,
): Promise<Page<T>> {
  const { from, countFrom = from, columns, key = ID, countUpTo, page, map, within } = listing;
  const { after, before } = page;
  // A page before a cursor has the records next to it, so it is read towards newer ones.
  const direction = raw(before !== undefined && after === undefined ? 'ASC' : 'DESC');
  const order = within ? sql`${within.column} ${direction}, ${key} ${direction}` : sql`${key} ${direction}`;
  const matching = joined([...listing.where, ...rangeOf(listing, {})], ' AND ');
  const onPage = joined([...listing.where, ...rangeOf(listing, page)], ' AND ');
  const rows = await database.planned(
    sql`SELECT c.total_count, p.* FROM (SELECT count(*) AS total_count FROM (
        SELECT 1 FROM ${countFrom} WHERE ${matching} ORDER BY ${order} LIMIT ${countUpTo}) AS matching) AS c
      LEFT JOIN (SELECT ${key} AS place, ${columns} FROM ${from} WHERE ${onPage}
        ORDER BY ${order} LIMIT ${page.limit}) AS p ON true
      ORDER BY p.place DESC`,
  );
  const [first] = rows;
  const items = rows.filter((row) => row.place !== null).map(map);
  return { totalCount: first ? number(first, 'total_count') : 0, items };
}

const ID = raw('id');

type Range<Cursor> = Omit<PageQuery<Cursor>, 'limit'>;

/** Returns the cursors as bounds in the index, so that no page costs more than the first. */
function rangeOf<Cursor extends string | number>(
  { key = ID, within }: Listing<unknown, Cursor>,
  { after, before }: Range<Cursor>,
): Sql[] {
  const bound = (sign: '<' | '>', cursor: Cursor | undefined): Sql[] => {
    const than = raw(sign);
    if (!within) return cursor === undefined ? [] : [sql`${key} ${than} ${cursor}`];
    const { column, value } = within;
    const one = sql`${column} = ${value}`;
    if (cursor === undefined) return [either({ sqlite: one, postgres: sql`${column} ${than}= ${value}` })];
    return [
      either({
        sqlite: sql`${one} AND ${key} ${than} ${cursor}`,
        postgres: sql`(${column}, ${key}) ${than} (${value}, ${cursor})`,
      }),
    ];
  };
  return [...bound('<', after), ...bound('>', before)];
}
