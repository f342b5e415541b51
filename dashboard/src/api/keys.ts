import { queryOptions } from '@tanstack/react-query';
import type { ApiKey, CreateKeyInput, NewApiKey, Quotas } from '../../../src/client/client.ts';
import { call } from './http.ts';
import { type Data, readAll } from './list.ts';

export const SCOPES = ['read', 'write', 'ingest', 'keys', 'account', 'admin'] as const satisfies ApiKey['scopes'];

export type Scope = ApiKey['scopes'][number];

export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => readAll<ApiKey>('/v1/keys', {}, signal),
});

export async function createKey(input: CreateKeyInput): Promise<NewApiKey> {
  return (await call<Data<NewApiKey>>('POST', '/v1/keys', input)).data;
}

export async function revokeKey(id: string): Promise<void> {
  await call('DELETE', `/v1/keys/${id}`);
}

export const quotasQuery = queryOptions({
  queryKey: ['quotas'],
  queryFn: async ({ signal }) => (await call<Data<Quotas>>('GET', '/v1/users/me/quotas', undefined, signal)).data,
});
