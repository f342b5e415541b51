import { queryOptions } from '@tanstack/react-query';
import type { Account, DataRecord, DataStore } from '../../../src/client/client.ts';
import { call } from './http.ts';
import { type Data, listQuery, readAll } from './list.ts';

export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: ({ signal }) => readAll<Account>('/v1/accounts', {}, signal),
});

export async function createAccount(input: { app: string; name?: string; fields: unknown }): Promise<Account> {
  return (await call<Data<Account>>('POST', '/v1/accounts', input)).data;
}

export async function deleteAccount(id: string): Promise<void> {
  await call('DELETE', `/v1/accounts/${id}`);
}

export const dataStoresQuery = queryOptions({
  queryKey: ['data-stores'],
  queryFn: ({ signal }) => readAll<DataStore>('/v1/data_stores', {}, signal),
});

export function dataStoreQuery(id: string) {
  return queryOptions({
    queryKey: ['data-store', id],
    queryFn: async ({ signal }) =>
      (await call<Data<DataStore>>('GET', `/v1/data_stores/${id}`, undefined, signal)).data,
  });
}

export function recordsQuery(id: string) {
  return listQuery<DataRecord>({ key: ['records', id], path: `/v1/data_stores/${id}/records` });
}

export async function createDataStore(name: string): Promise<DataStore> {
  return (await call<Data<DataStore>>('POST', '/v1/data_stores', { name })).data;
}

export async function deleteDataStore(id: string): Promise<void> {
  await call('DELETE', `/v1/data_stores/${id}`);
}

export async function deleteRecord(id: string, key: string): Promise<void> {
  await call('DELETE', `/v1/data_stores/${id}/records/${encodeURIComponent(key)}`);
}
