import { queryOptions } from '@tanstack/react-query';
import { call } from './http.ts';

export interface Ledger {
  readonly emissions: number;
  readonly runs: Readonly<Record<string, number>>;
  readonly deliveries: Readonly<Record<string, number>>;
  readonly errors: { readonly captured: number };
}

const AGAIN_MS = 5000;

export const ledgerQuery = queryOptions({
  queryKey: ['ledger'],
  queryFn: async ({ signal }) => (await call<{ data: Ledger }>('GET', '/v1/ledger', undefined, signal)).data,
  refetchInterval: AGAIN_MS,
});
