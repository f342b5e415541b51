// A search reads no further than its bounds, and every record is judged once, on some page.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { PageQuery } from '../../../../src/store/contract/records.ts';
import { type NumberRange, searchWithin } from '../../../../src/store/log/search/bounded-search.ts';

interface Kept {
  readonly count: number;
  readonly bytes: number;
  /** By what is read first, and by the rest. */
  readonly fits: (n: number) => boolean;
  readonly matches: (n: number) => boolean;
}

/** Searches the numbers from 0 to `count - 1`; none of them is kept anywhere. */
async function search(kept: Kept, page: PageQuery<number>) {
  const read = { heads: 0, judged: 0, mostAtOnce: 0 };
  const found = await searchWithin<number, number>({
    page,
    range: { from: 0, to: kept.count },
    isFiltered: true,
    read: async ({ from, to }: NumberRange, { isDescending, limit }) => {
      const length = Math.min(limit, to - from);
      read.heads += length;
      read.mostAtOnce = Math.max(read.mostAtOnce, length);
      return Array.from({ length }, (_, i) => (isDescending ? to - 1 - i : from + i));
    },
    numberOf: (n) => n,
    fits: kept.fits,
    bytesOf: () => kept.bytes,
    judge: async (heads) => {
      read.judged += heads.length;
      return heads.filter(kept.matches).map((n) => ({ number: n, item: n }));
    },
  });
  return { ...found, read };
}

test('of a million records, one page reads ten thousand', async () => {
  const kept = { count: 1_000_000, bytes: 100, fits: () => true, matches: (n: number) => n === 0 };
  const { items, next, lookedAt, read } = await search(kept, { limit: 100 });
  deepEqual([items, next, lookedAt], [[], 990_000, LIMITS.searchedRecords]);
  deepEqual(read, { heads: 10_000, judged: 10_000, mostAtOnce: LIMITS.searchStepRecords });
  const rare = await search({ ...kept, fits: (n) => n === 5 }, { limit: 100, before: 0 });
  deepEqual([rare.next, rare.lookedAt, rare.read.judged], [10_000, LIMITS.searchedRecords, 1]);
});

test('records that are large are fewer', async () => {
  const bytes = LIMITS.searchStepBytes / 2;
  const { lookedAt, read } = await search(
    { count: 1_000_000, bytes, fits: () => true, matches: () => false },
    { limit: 100 },
  );
  equal(lookedAt, LIMITS.searchedBytes / bytes);
  equal(read.judged, lookedAt);
  const huge = { count: 10, bytes: 100 * LIMITS.searchedBytes, fits: () => true, matches: () => false };
  equal((await search(huge, { limit: 100 })).lookedAt, 1, 'one is judged, however large');
});

test('the pages of a search have each match once', async () => {
  const modulus = fc.integer({ min: 1, max: 40 });
  const shape = fc.record({
    count: fc.integer({ min: 0, max: 3000 }),
    bytes: fc.constantFrom(1, LIMITS.searchStepBytes / 3, LIMITS.searchedBytes / 50),
    fitting: modulus,
    matching: modulus,
    limit: fc.integer({ min: 1, max: 100 }),
    isUpwards: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(shape, async ({ count, bytes, fitting, matching, limit, isUpwards }) => {
      const kept = { count, bytes, fits: (n: number) => n % fitting === 0, matches: (n: number) => n % matching === 0 };
      const found: number[] = [];
      let looked = 0;
      let cursor: number | null = isUpwards ? -1 : count;
      while (cursor !== null) {
        const page: PageQuery<number> = isUpwards ? { limit, before: cursor } : { limit, after: cursor };
        const { items, next, lookedAt } = await search(kept, page);
        ok(items.length <= limit);
        deepEqual(
          items,
          items.toSorted((a, b) => b - a),
          'newest first',
        );
        if (isUpwards) found.unshift(...items);
        else found.push(...items);
        looked += lookedAt;
        cursor = next;
      }
      const all = Array.from({ length: count }, (_, n) => count - 1 - n);
      deepEqual(
        found,
        all.filter((n) => kept.fits(n) && kept.matches(n)),
      );
      equal(looked, count, 'each was looked at once');
    }),
    { numRuns: 60 },
  );
});
