import { queryOptions } from '@tanstack/react-query';
import type { Account, DataRecord, DataStore } from '../../../src/client/client.ts';
import { parseEvent } from '../errors/event-text.ts';
import { call, send } from './http.ts';
import { type Data, listQuery, readAll } from './list.ts';

export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: ({ signal }) => readAll<Account>('/v1/accounts', {}, signal),
});

export async function createAccount(input: { app: string; name?: string; fields: unknown }): Promise<Account> {
  return (await call<Data<Account>>('POST', '/v1/accounts', input)).data;
}

/** Fields that are left out stay. */
export async function updateAccount(id: string, change: { name: string; fields?: unknown }): Promise<void> {
  await call('PUT', `/v1/accounts/${id}`, change);
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

const pathOf = (id: string, key: string): string => `/v1/data_stores/${id}/records/${encodeURIComponent(key)}`;

/** The value of one record, with numbers as they were written. */
export function recordQuery(id: string, key: string) {
  return queryOptions({
    queryKey: ['record', id, key],
    queryFn: async ({ signal }) => {
      const { value } = parseEvent(await send('GET', pathOf(id, key), { signal })) as { value: Data<DataRecord> };
      return value.data.value;
    },
  });
}

/** `text`: the value as JSON, which is sent as it is. */
export async function setRecord(id: string, key: string, text: string): Promise<void> {
  await send('PUT', pathOf(id, key), { raw: `{"value":${text}}` });
}

export async function createDataStore(name: string): Promise<DataStore> {
  return (await call<Data<DataStore>>('POST', '/v1/data_stores', { name })).data;
}

export async function deleteDataStore(id: string): Promise<void> {
  await call('DELETE', `/v1/data_stores/${id}`);
}

export async function deleteRecord(id: string, key: string): Promise<void> {
  await call('DELETE', pathOf(id, key));
}
