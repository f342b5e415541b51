// What owners keep for their code: accounts at other services, and data stores. Same promises as store.ts.

import type { Account, DataRecord, DataStore } from '../../domain/data.ts';
import type { Page, PageQuery } from './records.ts';

export interface AccountStore {
  createAccount(account: Account): Promise<void>;
  /**
   * Changes what stands when it is the turn of this change: none is lost, however many come at once. `change` keeps id,
   * owner and time of creation; it may be called again, and what it throws is passed on with nothing written. Undefined
   * when it is gone.
   */
  updateAccount(ownerId: string, id: string, change: (before: Account) => Account): Promise<Account | undefined>;
  getAccount(ownerId: string, id: string): Promise<Account | undefined>;
  listAccounts(of: { ownerId: string; app?: string }, page: PageQuery): Promise<Page<Account>>;
  deleteAccount(ownerId: string, id: string): Promise<Account | undefined>;
}

/** Which data store, and whose it must be. */
export interface DataPlace {
  readonly ownerId: string;
  readonly storeId: string;
}

/** `record`: null when there is none of that key. */
export interface FoundRecord {
  readonly record: DataRecord | null;
}

/** `full`: nothing was written, since the store has as many records, or bytes, as it may have. */
export type SetRecord = { readonly record: DataRecord } | { readonly full: 'records' | 'bytes' };

export interface RecordPage {
  readonly totalCount: number;
  readonly items: readonly DataRecord[];
}

/**
 * The records of data stores. What has expired by the store's clock is not there any more. All verbs answer undefined
 * when there is no such data store. Keys sort by their UTF-8 bytes.
 */
export interface RecordStore {
  getRecord(place: DataPlace, key: string): Promise<FoundRecord | undefined>;
  hasRecord(place: DataPlace, key: string): Promise<boolean | undefined>;
  /** `value`: JSON text. `ttlMs`: null for one that does not expire, also when the record that it replaces would have. */
  setRecord(
    place: DataPlace,
    record: { key: string; value: string; ttlMs: number | null },
  ): Promise<SetRecord | undefined>;
  /** The record as it is from now on. */
  expireRecord(place: DataPlace, key: string, ttlMs: number | null): Promise<FoundRecord | undefined>;
  /** The record as it was. */
  deleteRecord(place: DataPlace, key: string): Promise<FoundRecord | undefined>;
  /** Its records are gone at once, and deleted by `sweepData`. */
  clearRecords(place: DataPlace): Promise<true | undefined>;
  /** In order, at most LIMITS.keysPerPage; `after`: behind this one. */
  listRecordKeys(place: DataPlace, after: string | null): Promise<readonly string[] | undefined>;
  /**
   * In order of their keys, which are the cursors. A page ends when its values have LIMITS.recordPageBytes together: it
   * is the last one only when it is empty.
   */
  listRecords(place: DataPlace, page: PageQuery): Promise<RecordPage | undefined>;
}

export interface DataStoreStore extends RecordStore {
  createDataStore(dataStore: DataStore): Promise<void>;
  renameDataStore(ownerId: string, id: string, to: { name: string; atMs: number }): Promise<DataStore | undefined>;
  getDataStore(ownerId: string, id: string): Promise<DataStore | undefined>;
  listDataStores(ownerId: string, page: PageQuery): Promise<Page<DataStore>>;
  /** Its records are gone at once, and deleted by `sweepData`. */
  deleteDataStore(ownerId: string, id: string): Promise<DataStore | undefined>;
  /** One step: deletes a few records that are gone or have expired. Whether there may be more. */
  sweepData(): Promise<boolean>;
}
