// Ranges of record numbers, as conditions that an index answers.

import { firstNumberOf } from '../../../domain/operation.ts';
import { raw, type Sql, sql } from '../../config/sql.ts';
import type { NumberRange } from './bounded-search.ts';

/** The range of a search: from `sinceMs` on, and before `untilMs`. */
export function rangeOfTimes({ sinceMs = 0, untilMs }: { sinceMs?: number; untilMs?: number }): NumberRange {
  return {
    from: firstNumberOf(sinceMs),
    to: untilMs === undefined ? Number.MAX_SAFE_INTEGER : firstNumberOf(untilMs),
  };
}

/** An index that begins with a column of one value and goes on with the number. */
export interface NumberIndex {
  readonly column: Sql;
  readonly value: string;
  readonly number: Sql;
  /** Of a partial index, word for word, or of columns before `column`. */
  readonly where: readonly Sql[];
}

/** As pairs, which make Postgres use that index: see `Listing.within`. */
export function inRange({ column, value, number }: NumberIndex, { from, to }: NumberRange): Sql[] {
  const pair = sql`(${column}, ${number})`;
  return [sql`${pair} >= (${value}, ${from})`, sql`${pair} < (${value}, ${to})`];
}

export function ordered({ column, number }: NumberIndex, isDescending: boolean): Sql {
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  return sql`${column} ${direction}, ${number} ${direction}`;
}
