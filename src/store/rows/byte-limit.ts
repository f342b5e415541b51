/** Returns the first rows that have at most `maxBytes` together, and at least one. */
export function withinBytes<T extends { readonly bytes?: unknown }>(
  rows: readonly T[],
  maxBytes: number,
): readonly T[] {
  let sum = 0;
  const end = rows.findIndex(({ bytes }) => {
    sum += bytes as number;
    return sum > maxBytes;
  });
  return end < 0 ? rows : rows.slice(0, Math.max(1, end));
}
