// What owners keep for their code: accounts at other services, and data stores. Same promises as store.ts.

import type { Account, DataRecord, DataStore } from '../../domain/data.ts';
import type { Page, PageQuery } from './records.ts';

export interface AccountStore {
  createAccount(account: Account): Promise<void>;
  /**
   * Applies `change` to the current account: concurrent changes are applied one after the other, and none is lost. Id, owner
   * and time of creation stay. `change` may be called again; an error that it throws is passed on with nothing written.
   * Undefined: no such account.
   */
  updateAccount(ownerId: string, id: string, change: (before: Account) => Account): Promise<Account | undefined>;
  getAccount(ownerId: string, id: string): Promise<Account | undefined>;
  listAccounts(of: { ownerId: string; app?: string }, page: PageQuery): Promise<Page<Account>>;
  deleteAccount(ownerId: string, id: string): Promise<Account | undefined>;
}

/** A data store, and the owner that must have it. */
export interface DataPlace {
  readonly ownerId: string;
  readonly storeId: string;
}

/** `record`: null when the store has none with that key. */
export interface FoundRecord {
  readonly record: DataRecord | null;
}

/** `full`: nothing was written, since the store has as many records, or bytes, as it may have. */
export type SetRecord = { readonly record: DataRecord } | { readonly full: 'records' | 'bytes' };

export interface RecordCheck {
  /** Given the record before its change, in the transaction of that; what it throws is passed on with nothing written. */
  readonly check?: ((before: DataRecord | null) => void) | undefined;
}

export interface RecordPage {
  readonly totalCount: number;
  readonly items: readonly DataRecord[];
}

/**
 * The records of data stores. A record that has expired by the store's clock counts as deleted. All verbs return undefined
 * when there is no such data store. Keys sort by their UTF-8 bytes.
 */
export interface RecordStore {
  getRecord(place: DataPlace, key: string): Promise<FoundRecord | undefined>;
  hasRecord(place: DataPlace, key: string): Promise<boolean | undefined>;
  /**
   * Writes a record. `value`: JSON text. `ttlMs`: null for a record that does not expire, also when it replaces one that would
   * have.
   */
  setRecord(
    place: DataPlace,
    record: { key: string; value: string; ttlMs: number | null } & RecordCheck,
  ): Promise<SetRecord | undefined>;
  /** Returns the record with its new expiry. */
  expireRecord(place: DataPlace, key: string, ttlMs: number | null): Promise<FoundRecord | undefined>;
  /** Returns the deleted record. */
  deleteRecord(place: DataPlace, key: string, by?: RecordCheck): Promise<FoundRecord | undefined>;
  /** Hides all records at once; `sweepData` deletes them. */
  clearRecords(place: DataPlace): Promise<true | undefined>;
  /** Returns keys in order, those behind `after`, at most LIMITS.keysPerPage. */
  listRecordKeys(place: DataPlace, after: string | null): Promise<readonly string[] | undefined>;
  /**
   * Lists records by key; keys are the cursors. A page ends when its values have LIMITS.recordPageBytes together, so only an
   * empty page is the last one.
   */
  listRecords(place: DataPlace, page: PageQuery): Promise<RecordPage | undefined>;
}

export interface DataStoreStore extends RecordStore {
  createDataStore(dataStore: DataStore): Promise<void>;
  /** Renames it. `check` is given the name before the change; an error that it throws is passed on with nothing written. */
  renameDataStore(
    ownerId: string,
    id: string,
    to: { name: string; atMs: number; check?: (before: string) => void },
  ): Promise<DataStore | undefined>;
  getDataStore(ownerId: string, id: string): Promise<DataStore | undefined>;
  listDataStores(ownerId: string, page: PageQuery): Promise<Page<DataStore>>;
  /** Deletes the store and hides its records at once; `sweepData` deletes them. */
  deleteDataStore(ownerId: string, id: string): Promise<DataStore | undefined>;
  /** Deletes, in one step, a few records that were deleted, cleared or have expired. Returns whether there may be more. */
  sweepData(): Promise<boolean>;
}
