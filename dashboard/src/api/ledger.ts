import { queryOptions } from '@tanstack/react-query';
import { dataOf, errand } from './errand.ts';

const AGAIN_MS = 5000;

export const ledgerQuery = queryOptions({
  queryKey: ['ledger'],
  queryFn: ({ signal }) => dataOf(errand.getLedger({}, { signal })),
  refetchInterval: AGAIN_MS,
});
