import { queryOptions } from '@tanstack/react-query';
import type { Ledger } from '../../../src/client/client.ts';
import { call } from './http.ts';
import type { Data } from './list.ts';

const AGAIN_MS = 5000;

export const ledgerQuery = queryOptions({
  queryKey: ['ledger'],
  queryFn: async ({ signal }) => (await call<Data<Ledger>>('GET', '/v1/ledger', undefined, signal)).data,
  refetchInterval: AGAIN_MS,
});
