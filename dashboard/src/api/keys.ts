import { queryOptions } from '@tanstack/react-query';
import type { ApiKey, CreateKeyInput, NewApiKey } from '../../../src/client/client.ts';
import { changes, dataOf, errand } from './errand.ts';
import { readAll } from './list.ts';
import { everyOf } from './states.ts';

export type Scope = ApiKey['scopes'][number];

export const SCOPES = everyOf<Scope>()(['read', 'write', 'ingest', 'keys', 'account', 'admin']);

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => readAll<ApiKey>((asked, options) => errand.listKeys(asked, options), signal),
});

export async function createKey(input: CreateKeyInput): Promise<NewApiKey> {
  return await dataOf(changes.createKey(input));
}

export async function revokeKey(id: string): Promise<void> {
  await changes.revokeKey({ id });
}

export const quotasQuery = queryOptions({
  queryKey: ['quotas'],
  queryFn: ({ signal }) => dataOf(errand.getMyQuotas({}, { signal })),
});
