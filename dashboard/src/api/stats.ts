import { queryOptions } from '@tanstack/react-query';
import { dataOf, errand } from './errand.ts';

const HOUR_MS = 3_600_000;
const AGAIN_MS = 10_000;

/** What came in each of the last hours, the current one included. */
export function statsQuery(hours: number) {
  return queryOptions({
    queryKey: ['stats', hours],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - (hours - 1) * HOUR_MS).toISOString();
      return (await dataOf(errand.getStats({ since }, { signal }))).buckets;
    },
    refetchInterval: AGAIN_MS,
  });
}

/** The run that has waited longest for its turn, of the newest hundred that wait; null: none waits. */
export const oldestQueuedQuery = queryOptions({
  queryKey: ['runs', 'oldest-queued'],
  queryFn: async ({ signal }) =>
    (await dataOf(errand.searchRuns({ state: 'queued', limit: 100 }, { signal }))).at(-1) ?? null,
  refetchInterval: AGAIN_MS,
});
