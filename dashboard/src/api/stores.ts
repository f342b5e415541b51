import { queryOptions } from '@tanstack/react-query';
import {
  type Account,
  type CreateAccountInput,
  type DataRecord,
  type DataStore,
  etagOf,
  textOf,
  type UpdateAccountInput,
} from '../../../src/client/client.ts';
import { parseNumbers } from '../errors/event-text.ts';
import { changes, dataOf, errand } from './errand.ts';
import { listQuery, readAll } from './list.ts';

const SECOND_MS = 1000;

export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: ({ signal }) => readAll<Account>((asked, options) => errand.listAccounts(asked, options), signal),
});

export async function createAccount(input: CreateAccountInput): Promise<Account> {
  return await dataOf(changes.createAccount(input));
}

/** Fields that are left out stay. */
export async function updateAccount(id: string, change: Omit<UpdateAccountInput, 'id'>): Promise<void> {
  await changes.updateAccount({ id, ...change });
}

/** Gets a new token for it now. */
export async function renewAccount(id: string): Promise<void> {
  await changes.renewAccount({ id });
}

export async function deleteAccount(id: string): Promise<void> {
  await changes.deleteAccount({ id });
}

export const dataStoresQuery = queryOptions({
  queryKey: ['data-stores'],
  queryFn: ({ signal }) => readAll<DataStore>((asked, options) => errand.listDataStores(asked, options), signal),
});

export function dataStoreQuery(id: string) {
  return queryOptions({
    queryKey: ['data-store', id],
    queryFn: ({ signal }) => dataOf(errand.getDataStore({ id }, { signal })),
  });
}

export function recordsQuery(id: string) {
  return listQuery({
    key: ['records', id],
    read: (asked, options) => errand.listDataRecords({ id, ...asked }, options),
  });
}

export interface ReadRecord extends Pick<DataRecord, 'value' | 'expires_at'> {
  readonly etag: string;
}

/** One record, whose value has its numbers as they were written. */
export function recordQuery(id: string, key: string) {
  return queryOptions({
    queryKey: ['record', id, key],
    queryFn: async ({ signal }): Promise<ReadRecord> => {
      const answer = await errand.getDataRecord({ id, key }, { signal });
      const { value, expires_at } = (parseNumbers(textOf(answer)) as { data: DataRecord }).data;
      return { value, expires_at: expires_at === null ? null : Number(expires_at), etag: etagOf(answer) };
    },
  });
}

/**
 * `text`: the value as JSON, which is sent as it is. `before`: the record that it replaces, which still expires when it did; 412
 * when it was changed meanwhile, or is gone.
 */
export async function setRecord(
  id: string,
  { key, text, before }: { key: string; text: string; before?: ReadRecord | undefined },
): Promise<void> {
  const expiresAt = before?.expires_at ?? null;
  const ttl = expiresAt === null ? '' : `,"ttl":${Math.max(1, expiresAt - Math.floor(Date.now() / SECOND_MS))}`;
  const bodyText = `{"value":${text}${ttl}}`;
  await changes.setDataRecord({ id, key, value: null }, { bodyText, ifMatch: before?.etag });
}

export async function createDataStore(name: string): Promise<DataStore> {
  return await dataOf(changes.createDataStore({ name }));
}

export async function deleteDataStore(id: string): Promise<void> {
  await changes.deleteDataStore({ id });
}

export async function deleteRecord(id: string, key: string): Promise<void> {
  await changes.deleteDataRecord({ id, key });
}
