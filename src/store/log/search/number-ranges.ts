// Ranges of record numbers, as conditions that an index answers.

import { firstNumberOf } from '../../../domain/operation.ts';
import { differs, raw, type Sql, sql } from '../../config/sql.ts';
import type { NumberRange } from './bounded-search.ts';

/** Returns the range of a search: from `sinceMs` on, and before `untilMs`. */
export function rangeOfTimes({ sinceMs = 0, untilMs }: { sinceMs?: number; untilMs?: number }): NumberRange {
  return {
    from: firstNumberOf(sinceMs),
    to: untilMs === undefined ? Number.MAX_SAFE_INTEGER : firstNumberOf(untilMs),
  };
}

/** An index that begins with a column of one value and goes on with the number. */
export interface NumberIndex {
  readonly column: string;
  readonly value: string;
  readonly number: string;
  /** Of a partial index, word for word, or of columns before `column`. */
  readonly where: readonly Sql[];
}

export function inRange(index: NumberIndex, { from, to }: NumberRange): Sql[] {
  return [bound(index, '>=', from), bound(index, '<', to)];
}

/**
 * Returns a bound as pairs, which make Postgres use that index: see `Listing.within`. Of a pair with the row's own number,
 * SQLite looks up the first half alone, and steps over all that lies beyond the second: 150 ms for half a million records, and
 * 5 µs with equality.
 */
function bound({ column, value, number }: NumberIndex, sign: '>=' | '<', than: number): Sql {
  const head = differs({ sqlite: `${column} = `, postgres: `(${column}, ${number}) ${sign} (` });
  const middle = differs({ sqlite: ` AND ${number} ${sign} `, postgres: ', ' });
  return sql`${head}${value}${middle}${than}${differs({ sqlite: '', postgres: ')' })}`;
}

export function ordered({ column, number }: NumberIndex, isDescending: boolean): Sql {
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  return sql`${raw(column)} ${direction}, ${raw(number)} ${direction}`;
}
