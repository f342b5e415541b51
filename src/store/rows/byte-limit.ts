import { number } from './cells.ts';
import type { Row } from './rows.ts';

/** Returns the first rows that have at most `maxBytes` together, by their column `bytes`, and at least one. */
export function withinBytes<T extends Row>(rows: readonly T[], maxBytes: number): readonly T[] {
  let sum = 0;
  const end = rows.findIndex((row) => {
    sum += number(row, 'bytes');
    return sum > maxBytes;
  });
  return end < 0 ? rows : rows.slice(0, Math.max(1, end));
}
